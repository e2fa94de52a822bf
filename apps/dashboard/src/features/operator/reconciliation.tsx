import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { count, counted } from '../../format/count';
import { Badge, Notice } from '../../ui/notice';
import { Fact, Facts, Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money, Time } from '../../ui/values';

type Reconciliation = Result<'GET /api/operator/reconciliation'>['reconciliation'];
type Ledger = NonNullable<Reconciliation['ledger']>;
type Usage = NonNullable<Reconciliation['usage']>;
type LedgerDifference = Ledger['differences'][number];
type UsageDifference = Usage['differences'][number];

/** Both run once a minute. */
const FOLLOW_MS = 30_000;

/** More than so many are not counted. */
const MOST_KNOWN = 1_000;

/** Whether the books, the postings and usage agree, and what does not. */
export function Reconciliation() {
  const query = useQuery({
    queryKey: ['reconciliation'],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/operator/reconciliation', { signal })).reconciliation,
    refetchInterval: FOLLOW_MS,
  });
  return (
    <Section
      title="Reconciliation"
      description="The books compared with the postings, and usage with settlements, all the time."
    >
      {query.error && !query.data ? (
        <Failure error={query.error} what="the reconciliation" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={2} />
      ) : (
        <Compared of={query.data} />
      )}
    </Section>
  );
}

function Compared({ of: { ledger, usage } }: { readonly of: Reconciliation }) {
  const differences = (ledger?.known_differences ?? 0) + (usage?.known_differences ?? 0);
  return (
    <>
      <Facts>
        <Fact name="Books and postings">
          {ledger === null ? (
            <Unknown />
          ) : (
            <Verdict
              differences={ledger.known_differences}
              since={ledger.last_run_at}
              never="Not compared yet; that happens every minute."
            >
              {ledger.reconciled_until === null ? (
                'the first round through all organizations is not over'
              ) : (
                <>
                  all as of <Time at={ledger.reconciled_until} />
                </>
              )}
            </Verdict>
          )}
        </Fact>
        <Fact name="Usage and settlements">
          {usage === null ? (
            <Unknown />
          ) : (
            <Verdict
              differences={usage.known_differences}
              since={usage.compared_until}
              never="Not compared yet; hours are, once they are over."
            >
              {usage.compared_until !== null && (
                <>
                  what was settled until <Time at={usage.compared_until} />
                </>
              )}
            </Verdict>
          )}
        </Fact>
      </Facts>
      {differences > 0 && (
        <Notice tone="bad" title="Figures that have to be the same are not">
          Nothing is corrected by itself. docs/reconciliation.md says how to find out what happened. The
          oldest differences are shown.
        </Notice>
      )}
      {ledger !== null && ledger.differences.length > 0 && (
        <Table
          caption="Books that do not agree with the postings"
          rows={ledger.differences}
          columns={LEDGER_COLUMNS}
          rowId={({ organization_id: of, kind, generation_id: id }) => `${of} ${kind} ${id ?? ''}`}
        />
      )}
      {usage !== null && usage.differences.length > 0 && (
        <Table
          caption="Usage that does not agree with settlements"
          rows={usage.differences}
          columns={USAGE_COLUMNS}
          rowId={({ organization_id: of, kind, starts_at: at, first_seen_at: seen }) =>
            `${of} ${kind} ${at} ${seen}`
          }
        />
      )}
    </>
  );
}

function Unknown() {
  return <span className="text-ink-soft">Cannot be asked right now.</span>;
}

interface VerdictProps {
  readonly differences: number;
  /** Null: nothing was compared yet. */
  readonly since: string | null;
  /** What is said then. */
  readonly never: string;
  readonly children: ReactNode;
}

function Verdict({ differences, since, never, children }: VerdictProps) {
  if (since === null && differences === 0) {
    return <span className="text-ink-soft">{never}</span>;
  }
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {differences === 0 ? (
        <Badge tone="good">Agree</Badge>
      ) : (
        <Badge tone="bad">
          {differences >= MOST_KNOWN
            ? `${count(MOST_KNOWN)} differences or more`
            : counted(differences, 'difference')}
        </Badge>
      )}
      <span className="text-ink-soft">{children}</span>
    </span>
  );
}

const LEDGER_KINDS: Readonly<Record<string, string>> = {
  credited: 'Credit ever added',
  available: 'Available credit',
  held: 'Held credit',
  charged: 'Credit ever charged',
  uncollected: 'Uncollected cost',
  open_holds: 'Open holds',
  settlement: 'Charge of a settlement',
};

const USAGE_KINDS: Readonly<Record<string, string>> = {
  settlements: 'Generations of an hour',
  hourly_sums: 'Sums of an hour',
  daily_sums: 'Sums of a day',
};

function Organization({ id }: { readonly id: string }) {
  return (
    <Link
      to="/o/$organizationId"
      params={{ organizationId: id }}
      className="hover:text-accent hover:underline"
    >
      <Id>{id}</Id>
    </Link>
  );
}

const LEDGER_COLUMNS: readonly Column<LedgerDifference>[] = [
  {
    id: 'what',
    header: 'What',
    cell: ({ row: { original } }) => (
      <>
        <p className="font-medium">{LEDGER_KINDS[original.kind] ?? original.kind}</p>
        <p className="text-xs text-ink-faint">
          <Organization id={original.organization_id} />
        </p>
        {original.generation_id !== null && (
          <p className="text-xs text-ink-faint">
            <Link
              to="/o/$organizationId/generations/$generationId"
              params={{ organizationId: original.organization_id, generationId: original.generation_id }}
              className="hover:text-accent hover:underline"
            >
              <Id>{original.generation_id}</Id>
            </Link>
          </p>
        )}
      </>
    ),
  },
  {
    id: 'expected',
    header: 'Postings say',
    meta: { figures: true, usd: ({ expected_usd: usd }) => usd },
    cell: ({ row: { original } }) => <Money usd={original.expected_usd} />,
  },
  {
    id: 'found',
    header: 'Is',
    meta: { figures: true, usd: ({ found_usd: usd }) => usd },
    cell: ({ row: { original } }) => <Money usd={original.found_usd} />,
  },
  {
    id: 'seen',
    header: 'Seen first',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Time at={original.first_seen_at} />,
  },
];

function Sums({ of: sums }: { readonly of: UsageDifference['expected'] }) {
  return (
    <>
      {counted(sums.generations, 'generation')}
      <p className="text-xs text-ink-faint">
        cost <Money usd={sums.cost_usd} />, charged <Money usd={sums.charged_usd} />
      </p>
    </>
  );
}

const USAGE_COLUMNS: readonly Column<UsageDifference>[] = [
  {
    id: 'what',
    header: 'What',
    cell: ({ row: { original } }) => (
      <>
        <p className="font-medium">
          {USAGE_KINDS[original.kind] ?? original.kind}, from <Time at={original.starts_at} />
        </p>
        <p className="text-xs text-ink-faint">
          <Organization id={original.organization_id} />
        </p>
      </>
    ),
  },
  { id: 'expected', header: 'Expected', cell: ({ row: { original } }) => <Sums of={original.expected} /> },
  { id: 'found', header: 'Is', cell: ({ row: { original } }) => <Sums of={original.found} /> },
  {
    id: 'seen',
    header: 'Seen first',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Time at={original.first_seen_at} />,
  },
];
