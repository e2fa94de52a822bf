import type { GenerationDetail } from '../../api/generations';
import { nanoUsdOf } from '../../format/money';
import { Section } from '../../ui/page';
import { Table, type Column } from '../../ui/table';
import { Money, Time } from '../../ui/values';

type Entry = NonNullable<GenerationDetail['ledger_entries']>[number];

const ENTRY_KINDS = {
  credit: 'Credit',
  correction: 'Correction',
  hold: 'Hold',
  extension: 'Hold extended',
  settlement: 'Settlement',
  void: 'Released',
} as const;

const CUSTOMER_ACCOUNTS = [
  { account: 'credit_usd', name: 'Credit' },
  { account: 'held_usd', name: 'Held' },
] as const;

/** Revenue and uncollected cost are the operator's bookkeeping. */
const ACCOUNTS = [
  ...CUSTOMER_ACCOUNTS,
  { account: 'revenue_usd', name: 'Revenue' },
  { account: 'uncollected_usd', name: 'Uncollected' },
] as const;

const entryColumns = (accounts: readonly (typeof ACCOUNTS)[number][]): readonly Column<Entry>[] => [
  {
    id: 'kind',
    header: 'Entry',
    cell: ({ row: { original } }) => (
      <>
        {ENTRY_KINDS[original.kind]}
        <Time at={original.posted_at} className="block text-xs text-ink-faint @2xl:hidden" />
      </>
    ),
  },
  {
    id: 'at',
    header: 'Posted',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Time at={original.posted_at} />,
  },
  {
    // Four columns of amounts do not fit on a phone.
    id: 'accounts',
    header: 'Accounts',
    meta: { figures: true, hide: 'desktop' },
    cell: ({ row: { original } }) => (
      <ul>
        {accounts
          .filter(({ account }) => nanoUsdOf(original[account]) !== 0n)
          .map(({ account, name }) => (
            <li key={account}>
              <span className="text-ink-soft">{name}</span> <Money usd={original[account]} digits="all" />
            </li>
          ))}
      </ul>
    ),
  },
  ...accounts.map(({ account, name }): Column<Entry> => ({
    id: account,
    header: name,
    meta: { figures: true, hide: 'phone', usd: (entry) => entry[account], digits: 'all' },
    cell: ({ row: { original } }) => <Money usd={original[account]} />,
  })),
];

const OPERATOR_COLUMNS = entryColumns(ACCOUNTS);
const CUSTOMER_COLUMNS = entryColumns(CUSTOMER_ACCOUNTS);

interface LedgerSectionProps {
  readonly of: GenerationDetail;
  readonly isOperator: boolean;
}

export function LedgerSection({ of: { ledger_entries: entries }, isOperator }: LedgerSectionProps) {
  return (
    <Section
      title="Ledger entries"
      description={
        isOperator
          ? 'Each entry sums to zero across accounts.'
          : 'How the request changed the available and the held credit.'
      }
    >
      {entries === null ? (
        <p className="text-sm text-ink-soft">The ledger is temporarily unavailable.</p>
      ) : (
        <Table
          caption="Ledger entries"
          rows={entries}
          columns={isOperator ? OPERATOR_COLUMNS : CUSTOMER_COLUMNS}
          rowId={({ kind, posted_at: at, held_usd: held }) => `${kind} ${at} ${held}`}
        />
      )}
    </Section>
  );
}
