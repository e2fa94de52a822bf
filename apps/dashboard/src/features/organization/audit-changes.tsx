import { usdOfNano } from '../../format/money';
import { exactUsd, visible } from '../../ui/values';

/** What an entry says beside who, when and what: changed fields with both values, the rest by name. */
export function AuditChanges({ details }: { readonly details: unknown }) {
  if (!isRecord(details)) return null;
  const { changed, ...rest } = details;
  const changes = isRecord(changed) ? Object.entries(changed) : [];
  const facts = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  if (changes.length + facts.length === 0) return <span className="text-ink-faint">—</span>;
  return (
    <ul className="grid gap-0.5 text-xs">
      {changes.map(([name, value]) => (
        <li key={name}>
          <span className="text-ink-soft">{labelOf(name)}:</span>{' '}
          {isRecord(value) ? (
            <>
              <del className="text-bad decoration-bad/50">
                <bdi>{textOf(name, value['before'])}</bdi>
              </del>{' '}
              →{' '}
              <ins className="font-medium no-underline">
                <bdi>{textOf(name, value['after'])}</bdi>
              </ins>
            </>
          ) : (
            <bdi>{textOf(name, value)}</bdi>
          )}
        </li>
      ))}
      {facts.map(([name, value]) => (
        <li key={name} className="[overflow-wrap:anywhere]">
          <span className="text-ink-soft">{labelOf(name)}:</span> <bdi>{textOf(name, value)}</bdi>
        </li>
      ))}
    </ul>
  );
}

const labelOf = (name: string) => name.replace(/_nano_usd$|_usd$/, '').replaceAll('_', ' ');

function textOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (name.endsWith('_nano_usd') && /^-?\d+$/.test(String(value)))
    return exactUsd(usdOfNano(BigInt(String(value))));
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((one) => textOf(name, one)).join(', ');
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
