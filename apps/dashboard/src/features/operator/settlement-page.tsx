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
import { DeadLetters } from './dead-letters';
import { Reconciliation } from './reconciliation';

type Health = Result<'GET /api/operator/settlement'>['health'];
type Lag = NonNullable<Health['event_log']>[number];

const FOLLOW_MS = 2_000;

const route = getRouteApi('/signed-in/operator/settlement');

export function SettlementPage() {
  const { letters } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ['settlement-health'],
    queryFn: async ({ signal }) => (await api.call('GET /api/operator/settlement', { signal })).health,
    refetchInterval: FOLLOW_MS,
  });
  const health = query.data;
  const holds = health?.open_holds ?? null;
  return (
    <Page title="Settlement" description="Whether what was run is paid for, and what waits.">
      {query.error && !health ? (
        <Failure error={query.error} what="the health of settlement" onRetry={() => void query.refetch()} />
      ) : !health ? (
        <SkeletonRows />
      ) : (
        <>
          {holds !== null && holds.overdue > 0 && (
            <Notice tone="warn" title={`${counted(holds.overdue, 'hold')} past the deadline`}>
              Their requests were not settled in time. They are let go soon, and the customer is not charged.
            </Notice>
          )}
          <Figures>
            <Figure label="Open holds" note={noteOf(holds)}>
              {holds ? count(holds.count) : '—'}
            </Figure>
            <Figure label="Held" note={holds ? undefined : 'cannot be asked'}>
              {holds ? <Money usd={holds.held_usd} /> : '—'}
            </Figure>
            <Figure
              label="In the spool"
              note={health.spool ? `${count(health.spool.bytes)} bytes on disk` : 'cannot be asked'}
            >
              {health.spool ? count(health.spool.generations) : '—'}
            </Figure>
          </Figures>
          <Section title="Event log" description="Events that are not handled yet, by who handles them.">
            {health.event_log === null ? (
              <p className="text-sm text-ink-soft">It cannot be asked right now, or is counted elsewhere.</p>
            ) : (
              <Table
                caption="Event log"
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
        state={letters}
        onState={(state) =>
          void navigate({ search: state === 'waiting' ? {} : { letters: state }, replace: true })
        }
      />
    </Page>
  );
}

function noteOf(holds: Health['open_holds']): string {
  if (holds === null) return 'cannot be asked';
  return holds.oldest_age_ms === null
    ? 'nothing is held'
    : `the oldest since ${duration(holds.oldest_age_ms)}`;
}

const LAG_COLUMNS: readonly Column<Lag>[] = [
  {
    id: 'topic',
    header: 'Topic',
    cell: ({ row: { original } }) => (
      <>
        <Id>{original.topic}</Id>
        <p className="text-xs text-ink-faint sm:hidden">
          by <Id>{original.group}</Id>
        </p>
      </>
    ),
  },
  {
    id: 'group',
    header: 'Handled by',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Id>{original.group}</Id>,
  },
  {
    id: 'waiting',
    header: 'Waiting',
    meta: { figures: true },
    cell: ({ row: { original } }) => count(original.waiting),
  },
];
