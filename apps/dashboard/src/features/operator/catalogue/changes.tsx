import { counted } from '../../../format/count';
import { Badge, Notice } from '../../../ui/notice';
import { Id, Text } from '../../../ui/values';
import type { CatalogueChange, CheckedText } from './catalogue-state';

const TONES = { added: 'good', removed: 'bad', changed: 'warn' } as const;

/** What one text changes in another, by provider and model. */
export function Changes({ of }: { readonly of: readonly CatalogueChange[] }) {
  if (of.length === 0) return <p className="text-sm text-ink-soft">No changes.</p>;
  return (
    <ul aria-label="Changes" className="grid gap-3 text-sm">
      {of.map(({ kind, name, change, fields }) => (
        <li key={`${kind} ${name}`} className="rounded-md border border-line p-3">
          <p className="flex flex-wrap items-center gap-2">
            <Badge tone={TONES[change]}>{change}</Badge> {kind} <Text className="font-medium">{name}</Text>
          </p>
          {change !== 'removed' && (
            <ul className="mt-2 grid gap-1 text-xs">
              {fields.map(({ field, before, after }) => (
                <li key={field} className="[overflow-wrap:anywhere]">
                  <Id>{field}</Id>: {change === 'changed' && <Before of={before} />}
                  <Value of={after} />
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}

function Before({ of }: { readonly of: string | null }) {
  return (
    <>
      <Value of={of} /> →{' '}
    </>
  );
}

function Value({ of }: { readonly of: string | null }) {
  return of === null ? <span className="text-ink-faint">not set</span> : <Text>{of}</Text>;
}

/** The result of a check: the errors of a text, or what it changes. */
export function Checked({ of: { issues, changes, affected } }: { readonly of: CheckedText }) {
  if (issues.length > 0) return <Issues of={issues} />;
  return (
    <>
      <Notice tone="good" title="The catalogue has no errors" />
      <Changes of={changes} />
      <Affected of={affected} />
    </>
  );
}

/** Who used the changed and removed models. */
function Affected({ of }: { readonly of: CheckedText['affected'] }) {
  if (of === null)
    return <p className="text-sm text-ink-soft">Who is affected is unknown: usage is unavailable.</p>;
  if (of.length === 0) return null;
  return (
    <section className="text-sm">
      <h3 className="font-medium">Affected within the last 30 days</h3>
      <ul aria-label="Affected">
        {of.map(({ model, organizations, keys, requests }) => (
          <li key={model}>
            <Text className="font-medium">{model}</Text>: {counted(requests, 'request')} of{' '}
            {counted(organizations, 'organization')}, with {counted(keys, 'key')}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Issues({
  of,
  title = 'The catalogue has errors',
}: {
  readonly of: CheckedText['issues'];
  readonly title?: string;
}) {
  return (
    <Notice tone="bad" title={title}>
      <ul className="mt-2 grid gap-1">
        {of.map(({ message, line }, index) => (
          <li key={index} className="flex gap-3">
            <span className="figures w-16 shrink-0 text-ink-soft">
              {line === null ? 'Text' : `Line ${line}`}
            </span>
            <Text>{message}</Text>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
