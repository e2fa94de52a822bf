import { count } from '../../format/count';
import { usdOfNano } from '../../format/money';
import { exactTime } from '../../format/time';
import { exactUsd, visible } from '../../ui/values';
import { otherBudgetName, type OtherBudget } from '../keys/other-budget-values';

/** The details of an entry: changed fields with both values, then other fields. */
export function AuditChanges({ details }: { readonly details: unknown }) {
  if (!isRecord(details)) return null;
  const { changed, ...rest } = details;
  const changes = isRecord(changed) ? Object.entries(changed) : [];
  const facts = Object.entries(rest).filter(([, value]) => !isEmpty(value));
  if (changes.length + facts.length === 0) return <span className="text-ink-faint">—</span>;
  return (
    <ul className="grid gap-0.5 text-xs">
      {changes.map(([name, value]) => (
        <li key={name} className="[overflow-wrap:anywhere]">
          <span className="text-ink-soft">{labelOf(name)}:</span>{' '}
          {isRecord(value) ? (
            <>
              <del className="text-bad decoration-bad/50">
                <bdi>{detailText(name, value['before'])}</bdi>
              </del>{' '}
              →{' '}
              <ins className="font-medium no-underline">
                <bdi>{detailText(name, value['after'])}</bdi>
              </ins>
            </>
          ) : (
            <bdi>{detailText(name, value)}</bdi>
          )}
        </li>
      ))}
      {facts.map(([name, value]) => (
        <li key={name} className="[overflow-wrap:anywhere]">
          <span className="text-ink-soft">{labelOf(name)}:</span> <bdi>{detailText(name, value)}</bdi>
        </li>
      ))}
    </ul>
  );
}

const LABELS: Readonly<Record<string, string>> = {
  last4: 'Last four',
  ip_allowlist: 'Allowed IPs',
  json_streaming: 'JSON in streams',
};

function labelOf(name: string): string {
  const words = name.replace(/_nano_usd$|_usd$/, '').replaceAll('_', ' ');
  return visible(LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1));
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const AMOUNT = /^-?\d+(\.\d{1,9})?$/;

/** Formats a value: amounts, UTC times, and grouped numbers. */
export function detailText(name: string, value: unknown): string {
  if (isEmpty(value)) return 'None';
  if (Array.isArray(value)) return value.map((one) => detailText(name, one)).join(', ');
  if (name === 'other_budgets' && isRecord(value)) return budgetText(value);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
  if (name.endsWith('_nano_usd') && /^-?\d+$/.test(text)) return exactUsd(usdOfNano(BigInt(text)));
  if (name.endsWith('_usd') && AMOUNT.test(text)) return exactUsd(text);
  if (typeof value === 'number') return count(value);
  return TIME.test(text) ? exactTime(text) : visible(text);
}

function budgetText(budget: Readonly<Record<string, unknown>>): string {
  const { hours, amount_nano_usd: amount, ...rest } = budget;
  const fields = { ...rest, hours: Number(hours ?? 0), amount_usd: '' } as unknown as OtherBudget;
  return `${visible(otherBudgetName(fields))}: ${detailText('amount_nano_usd', amount)}`;
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
