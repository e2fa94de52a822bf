import type { Result } from '@gateway/dashboard-contract/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Select } from '../../ui/field';
import { Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Text, Time } from '../../ui/values';
import { DeadLetterDetail } from './dead-letter-detail';

type Group = Result<'GET /api/dead-letters'>['groups'][number];
type DeadLetter = Result<'GET /api/dead-letters/{group}/{topic}'>['data'][number];
type DeadLetterState = DeadLetter['state'];

const REFETCH_INTERVAL_MS = 5_000;

interface DeadLettersProps {
  /** The state to show; pending by default. */
  readonly state: DeadLetterState | undefined;
  readonly onState: (state: DeadLetterState) => void;
}

/** Dead letters by consumer group. */
export function DeadLetters({ state = 'pending', onState }: DeadLettersProps) {
  const query = useQuery({
    queryKey: ['dead-letter-groups'],
    queryFn: async ({ signal }) => (await api.call('GET /api/dead-letters', { signal })).groups,
    refetchInterval: REFETCH_INTERVAL_MS,
  });
  const groups = query.data?.filter(
    ({ pending, redelivering, discarded }) => pending + redelivering + discarded > 0,
  );
  return (
    <Section title="Dead letters" description="Events that could not be handled. Redeliver or discard them.">
      {query.error && !groups ? (
        <Failure error={query.error} what="dead letters" onRetry={() => void query.refetch()} />
      ) : !groups ? (
        <SkeletonRows rows={2} />
      ) : groups.length === 0 ? (
        <Empty icon="check" title="No dead letters">
          Events that repeatedly fail are stored here and do not block others.
        </Empty>
      ) : (
        <div className="grid gap-8">
          {groups.map((group) => (
            <GroupSection key={`${group.group} ${group.topic}`} of={group} state={state} onState={onState} />
          ))}
        </div>
      )}
    </Section>
  );
}

function GroupSection({
  of: group,
  state,
  onState,
}: {
  readonly of: Group;
  readonly state: DeadLetterState;
  readonly onState: (state: DeadLetterState) => void;
}) {
  const [opened, setOpened] = useState<DeadLetter>();
  const deadLetters = useInfiniteQuery({
    queryKey: ['dead-letters', group.group, group.topic, state],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/dead-letters/{group}/{topic}', {
        params: { group: group.group, topic: group.topic },
        query: { state, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    refetchInterval: REFETCH_INTERVAL_MS,
  });
  const rows = deadLetters.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h3 className="text-sm font-medium">
          <Id>{group.topic}</Id> <span className="text-ink-soft">in</span> <Id>{group.group}</Id>
        </h3>
        <Select
          aria-label="Status"
          className="!w-48"
          value={state}
          onChange={({ target }) => onState(target.value as DeadLetterState)}
        >
          <option value="pending">Pending ({count(group.pending)})</option>
          <option value="redelivering">Redelivering ({count(group.redelivering)})</option>
          <option value="discarded">Discarded ({count(group.discarded)})</option>
        </Select>
      </div>
      {deadLetters.error ? (
        <Failure error={deadLetters.error} what="dead letters" onRetry={() => void deadLetters.refetch()} />
      ) : deadLetters.isPending ? (
        <SkeletonRows rows={2} />
      ) : rows.length === 0 ? (
        <p className="text-sm text-ink-soft">No dead letters with this status.</p>
      ) : (
        <Table
          caption="Dead letters"
          rows={rows}
          columns={columns(setOpened)}
          rowId={({ position }) => position}
        />
      )}
      {deadLetters.hasNextPage && (
        <Button
          className="justify-self-center"
          busy={deadLetters.isFetchingNextPage}
          onClick={() => void deadLetters.fetchNextPage()}
        >
          Load more
        </Button>
      )}
      <Dialog
        wide
        open={opened !== undefined}
        onOpenChange={() => setOpened(undefined)}
        title={`Dead letter ${opened?.position ?? ''}`}
      >
        {opened && <DeadLetterDetail of={opened} onDone={() => setOpened(undefined)} />}
      </Dialog>
    </div>
  );
}

function columns(onOpen: (deadLetter: DeadLetter) => void): readonly Column<DeadLetter>[] {
  return [
    { id: 'position', header: 'Position', cell: ({ row: { original } }) => <Id>{original.position}</Id> },
    {
      id: 'reason',
      header: 'Failure reason',
      cell: ({ row: { original } }) => (
        <>
          <Text>{original.reason}</Text>
          {original.discarded && (
            <p className="text-xs text-ink-soft">
              Discarded <Time at={original.discarded.at} />: <Text>{original.discarded.reason}</Text>
            </p>
          )}
        </>
      ),
    },
    {
      id: 'attempts',
      header: 'Attempts',
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original } }) => count(original.attempts),
    },
    {
      id: 'dead-lettered',
      header: 'Dead-lettered',
      meta: { hide: 'phone' },
      cell: ({ row: { original } }) => <Time at={original.dead_lettered_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original } }) => (
        <Button small onClick={() => onOpen(original)}>
          View
        </Button>
      ),
    },
  ];
}
