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
import { Id, LogTime, Money, Time } from '../../ui/values';
import { OrganizationLink } from './organization-link';

type Reconciliation = Result<'GET /api/operator/reconciliation'>['reconciliation'];
type Ledger = NonNullable<Reconciliation['ledger']>;
type Usage = NonNullable<Reconciliation['usage']>;
type LedgerDifference = Ledger['differences'][number];
type UsageDifference = Usage['differences'][number];

/** Reconciliation runs once a minute. */
const REFETCH_INTERVAL_MS = 30_000;

/** The API counts up to this many differences. */
const MAX_COUNTED = 1_000;

export function Reconciliation() {
  const query = useQuery({
    queryKey: ['reconciliation'],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/operator/reconciliation', { signal })).reconciliation,
    refetchInterval: REFETCH_INTERVAL_MS,
  });
  return (
    <Section
      title="Reconciliation"
      description="Continuously compares balances with postings, and usage with settlements."
    >
      {query.error && !query.data ? (
        <Failure error={query.error} what="reconciliation" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={2} />
      ) : (
        <ReconciliationResult of={query.data} />
      )}
    </Section>
  );
}

function ReconciliationResult({ of: { ledger, usage } }: { readonly of: Reconciliation }) {
  const differences = (ledger?.known_differences ?? 0) + (usage?.known_differences ?? 0);
  return (
    <>
      <Facts>
        <Fact name="Balances and postings">
          {ledger === null ? (
            <Unavailable />
          ) : (
            <ComparisonStatus
              differences={ledger.known_differences}
              since={ledger.last_run_at}
              never="Not compared yet. Runs every minute."
            >
              {ledger.reconciled_until === null ? (
                'First pass in progress'
              ) : (
                <>
                  As of <Time at={ledger.reconciled_until} />
                </>
              )}
            </ComparisonStatus>
          )}
        </Fact>
        <Fact name="Usage and settlements">
          {usage === null ? (
            <Unavailable />
          ) : (
            <ComparisonStatus
              differences={usage.known_differences}
              since={usage.compared_until}
              never="Not compared yet. Hours are compared after they end."
            >
              {usage.compared_until !== null && (
                <>
                  Settled before <Time at={usage.compared_until} />
                </>
              )}
            </ComparisonStatus>
          )}
        </Fact>
      </Facts>
      {differences > 0 && (
        <Notice tone="bad" title="Reconciliation found differences">
          Nothing is corrected automatically. The page Reconciliation of the documentation says what to do.
          The oldest differences are shown.
        </Notice>
      )}
      {ledger !== null && ledger.differences.length > 0 && (
        <Table
          caption="Balances that differ from postings"
          rows={ledger.differences}
          columns={LEDGER_COLUMNS}
          rowId={({ organization_id: of, kind, generation_id: id }) => `${of} ${kind} ${id ?? ''}`}
        />
      )}
      {usage !== null && usage.differences.length > 0 && (
        <Table
          caption="Usage that differs from settlements"
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

function Unavailable() {
  return <span className="text-ink-soft">Temporarily unavailable</span>;
}

interface ComparisonStatusProps {
  readonly differences: number;
  /** Null before the first comparison. */
  readonly since: string | null;
  /** The text before the first comparison. */
  readonly never: string;
  readonly children: ReactNode;
}

function ComparisonStatus({ differences, since, never, children }: ComparisonStatusProps) {
  if (since === null && differences === 0) {
    return <span className="text-ink-soft">{never}</span>;
  }
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      {differences === 0 ? (
        <Badge tone="good">No differences</Badge>
      ) : (
        <Badge tone="bad">
          {differences >= MAX_COUNTED
            ? `${count(MAX_COUNTED)}+ differences`
            : counted(differences, 'difference')}
        </Badge>
      )}
      <span className="text-ink-soft">{children}</span>
    </span>
  );
}

const LEDGER_KINDS: Readonly<Record<string, string>> = {
  credited: 'Total credits',
  available: 'Available credit',
  held: 'Held credit',
  charged: 'Total charges',
  uncollected: 'Uncollected cost',
  open_holds: 'Open holds',
  settlement: 'Settlement charge',
};

const USAGE_KINDS: Readonly<Record<string, string>> = {
  settlements: 'Hourly generations',
  hourly_sums: 'Hourly totals',
  daily_sums: 'Daily totals',
  hourly_values: 'Hourly totals by end user and tag',
  daily_values: 'Daily totals by end user and tag',
  daily_providers: 'Daily totals by provider',
};

const LEDGER_COLUMNS: readonly Column<LedgerDifference>[] = [
  {
    id: 'figure',
    header: 'Figure',
    cell: ({ row: { original } }) => (
      <>
        <p className="font-medium">{LEDGER_KINDS[original.kind] ?? original.kind}</p>
        <p className="text-xs text-ink-faint">
          <OrganizationLink id={original.organization_id} />
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
    header: 'Expected',
    meta: { figures: true, usd: ({ expected_usd: usd }) => usd, digits: 'all' },
    cell: ({ row: { original } }) => <Money usd={original.expected_usd} />,
  },
  {
    id: 'found',
    header: 'Actual',
    meta: { figures: true, usd: ({ found_usd: usd }) => usd, digits: 'all' },
    cell: ({ row: { original } }) => <Money usd={original.found_usd} />,
  },
  {
    id: 'seen',
    header: 'First seen',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Time at={original.first_seen_at} />,
  },
];

function Sums({ of: sums }: { readonly of: UsageDifference['expected'] }) {
  return (
    <>
      {counted(sums.generations, 'generation')}
      <p className="text-xs text-ink-faint">
        Cost <Money usd={sums.cost_usd} digits="all" />, charged <Money usd={sums.charged_usd} digits="all" />
      </p>
    </>
  );
}

const USAGE_COLUMNS: readonly Column<UsageDifference>[] = [
  {
    id: 'figure',
    header: 'Figure',
    cell: ({ row: { original } }) => (
      <>
        <p className="font-medium">
          {USAGE_KINDS[original.kind] ?? original.kind}, from <LogTime at={original.starts_at} />
        </p>
        <p className="text-xs text-ink-faint">
          <OrganizationLink id={original.organization_id} />
        </p>
      </>
    ),
  },
  { id: 'expected', header: 'Expected', cell: ({ row: { original } }) => <Sums of={original.expected} /> },
  { id: 'found', header: 'Actual', cell: ({ row: { original } }) => <Sums of={original.found} /> },
  {
    id: 'seen',
    header: 'First seen',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Time at={original.first_seen_at} />,
  },
];
