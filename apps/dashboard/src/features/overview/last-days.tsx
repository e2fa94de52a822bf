import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { liveQuery } from '../../api/balance';
import { keyLabel, keysByIdQuery } from '../../api/keys';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { usageSummaryQuery } from '../../api/usage';
import { count, errorRate } from '../../format/count';
import { nanoUsdOf } from '../../format/money';
import { creditLeft, trend } from '../../format/trend';
import { sectionLinkClass } from '../../ui/button';
import { Figure, Figures, Section } from '../../ui/page';
import { Failure, Skeleton } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Money, Text } from '../../ui/values';

type Summary = Result<'GET /api/organizations/{organization_id}/usage/summary'>;
type TopKey = Summary['top_keys'][number];

const AVERAGED_DAYS = 7n;

/** Spend, requests and errors of the last 30 days and their trend, the days of credit left, and the top keys. */
export function LastDays({ organizationId }: { readonly organizationId: string }) {
  const can = usePermission(organizationId);
  const summary = useQuery(usageSummaryQuery(organizationId));
  const keyIds = summary.data?.top_keys.map(({ key_id: id }) => id) ?? [];
  const { data: keys = [] } = useQuery({
    ...keysByIdQuery(organizationId, keyIds),
    enabled: keyIds.length > 0,
  });
  const keyNames = new Map(keys.map((key) => [key.id, keyLabel(key)]));
  return (
    <>
      <Section
        title="Last 30 days"
        description="UTC days, compared with the 30 days before until the same hour."
      >
        {blockingErrorOf(summary) ? (
          <Failure error={summary.error} what="usage" onRetry={() => void summary.refetch()} />
        ) : summary.data ? (
          <Figures>
            <Spend summary={summary.data} />
            <Requests summary={summary.data} />
            <ErrorRate summary={summary.data} />
            {can('credit:read') && <CreditLeft organizationId={organizationId} summary={summary.data} />}
          </Figures>
        ) : (
          <Skeleton className="h-20" />
        )}
      </Section>
      {summary.data && summary.data.top_keys.length > 0 && (
        <Section
          title="Top keys"
          description="By spend in the last 30 days."
          actions={
            <Link
              to="/o/$organizationId/usage"
              params={{ organizationId }}
              search={{ split: 'key' }}
              className={sectionLinkClass}
            >
              View by key
            </Link>
          }
        >
          <Table
            caption="Top keys"
            rows={summary.data.top_keys}
            columns={topKeyColumns(organizationId, keyNames)}
            rowId={({ key_id: id }) => id}
          />
        </Section>
      )}
    </>
  );
}

function Spend({ summary: { current, previous } }: { readonly summary: Summary }) {
  const change = trend(nanoUsdOf(current.spend_usd), nanoUsdOf(previous.spend_usd));
  return (
    <Figure
      label="Spend"
      note={
        change === undefined ? (
          'No spend before'
        ) : (
          <>
            {change} from <Money usd={previous.spend_usd} />
          </>
        )
      }
    >
      <Money usd={current.spend_usd} />
    </Figure>
  );
}

function Requests({ summary: { current, previous } }: { readonly summary: Summary }) {
  const change = trend(BigInt(current.requests), BigInt(previous.requests));
  return (
    <Figure
      label="Requests"
      note={change === undefined ? 'No requests before' : `${change} from ${count(previous.requests)}`}
    >
      {count(current.requests)}
    </Figure>
  );
}

function ErrorRate({ summary: { current, previous } }: { readonly summary: Summary }) {
  const before = errorRate(previous);
  return (
    <Figure
      label="Error rate"
      note={
        <>
          {count(current.errors)} failed{before !== undefined && `; ${before} before`}
        </>
      }
    >
      {errorRate(current) ?? '—'}
    </Figure>
  );
}

function CreditLeft({
  organizationId,
  summary,
}: {
  readonly organizationId: string;
  readonly summary: Summary;
}) {
  const { data: live } = useQuery(liveQuery(organizationId));
  const spent = nanoUsdOf(summary.spend_last_7_days_usd);
  const left = live && creditLeft(nanoUsdOf(live.balance.available_usd), spent, AVERAGED_DAYS);
  return (
    <Figure
      label="Credit left"
      note={spent > 0n ? 'At the average of the last 7 days' : 'No spend in the last 7 days'}
    >
      {left ?? '—'}
    </Figure>
  );
}

function topKeyColumns(
  organizationId: string,
  keyNames: ReadonlyMap<string, string>,
): readonly Column<TopKey>[] {
  return [
    {
      id: 'name',
      header: 'Key',
      enableSorting: false,
      cell: ({ row: { original: row } }) => (
        <Link
          to="/o/$organizationId/keys/$keyId"
          params={{ organizationId, keyId: row.key_id }}
          className="font-medium hover:text-accent hover:underline"
        >
          <Text>{keyNames.get(row.key_id) ?? row.key_id}</Text>
        </Link>
      ),
    },
    {
      id: 'spend',
      header: 'Spend',
      enableSorting: false,
      meta: { figures: true, usd: ({ spend_usd: usd }) => usd },
      cell: ({ row: { original: row } }) => <Money usd={row.spend_usd} />,
    },
    {
      id: 'requests',
      header: 'Requests',
      enableSorting: false,
      meta: { figures: true },
      cell: ({ row: { original: row } }) => count(row.requests),
    },
    {
      id: 'errors',
      header: 'Error rate',
      enableSorting: false,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: row } }) => errorRate(row) ?? '—',
    },
  ];
}
