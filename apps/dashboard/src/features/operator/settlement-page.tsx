import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api } from '../../api/client';
import { count, counted } from '../../format/count';
import { duration } from '../../format/time';
import { Notice } from '../../ui/notice';
import { Figure, Figures, Page, Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money } from '../../ui/values';
import { StaleFigures } from '../credit/stale-figures';
import { DeadLetters } from './dead-letters';
import { Reconciliation } from './reconciliation';

type Health = Result<'GET /api/operator/settlement'>['health'];
type Lag = NonNullable<Health['event_log']>[number];

const REFETCH_INTERVAL_MS = 2_000;

const route = getRouteApi('/signed-in/operator/settlement');

export function SettlementPage() {
  const { dead_letters: deadLetterState } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['settlement-health'],
    queryFn: async ({ signal }) => (await api.call('GET /api/operator/settlement', { signal })).health,
    refetchInterval: REFETCH_INTERVAL_MS,
  });
  const health = query.data;
  const holds = health?.open_holds ?? null;
  return (
    <Page title="Settlement" description="Billing pipeline health.">
      {query.error && !health ? (
        <Failure error={query.error} what="settlement health" onRetry={() => void query.refetch()} />
      ) : !health ? (
        <SkeletonRows />
      ) : (
        <>
          <StaleFigures of={query} />
          {holds !== null && holds.overdue > 0 && (
            <Notice tone="warn" title={`${counted(holds.overdue, 'overdue hold')}`}>
              These requests were not settled in time. Their holds will be released without a charge.
            </Notice>
          )}
          <Figures>
            <Figure label="Open holds" note={noteOf(holds)}>
              {holds ? count(holds.count) : '—'}
            </Figure>
            <Figure label="Held" note={holds ? undefined : 'Temporarily unavailable'}>
              {holds ? <Money usd={holds.held_usd} /> : '—'}
            </Figure>
            <Figure
              label="Spooled generations"
              note={
                health.spool
                  ? `${count(health.spool.bytes)} bytes on routers’ disks, waiting for the event log`
                  : 'Temporarily unavailable'
              }
            >
              {health.spool ? count(health.spool.generations) : '—'}
            </Figure>
          </Figures>
          <Section title="Consumer lag" description="Unhandled events by consumer group.">
            {health.event_log === null ? (
              <p className="text-sm text-ink-soft">Temporarily unavailable</p>
            ) : (
              <Table
                caption="Consumer lag"
                rows={health.event_log}
                columns={LAG_COLUMNS}
                rowId={({ topic, group }) => `${topic} ${group}`}
              />
            )}
          </Section>
        </>
      )}
      <Reconciliation />
      <DeadLetters
        state={deadLetterState}
        onState={(state) =>
          void navigate({ search: state === 'pending' ? {} : { dead_letters: state }, replace: true })
        }
      />
    </Page>
  );
}

function noteOf(holds: Health['open_holds']): string {
  if (holds === null) return 'Temporarily unavailable';
  return holds.oldest_age_ms === null ? 'No open holds' : `Oldest: ${duration(holds.oldest_age_ms)}`;
}

const LAG_COLUMNS: readonly Column<Lag>[] = [
  {
    id: 'topic',
    header: 'Topic',
    cell: ({ row: { original } }) => (
      <>
        <Id>{original.topic}</Id>
        <p className="text-xs text-ink-faint @2xl:hidden">
          <Id>{original.group}</Id>
        </p>
      </>
    ),
  },
  {
    id: 'group',
    header: 'Consumer group',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Id>{original.group}</Id>,
  },
  {
    id: 'lag',
    header: 'Lag',
    meta: { figures: true },
    cell: ({ row: { original } }) => count(original.lag),
  },
];
