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
import { DeadLetterView } from './dead-letter-view';

type Group = Result<'GET /api/dead-letters'>['groups'][number];
type DeadLetter = Result<'GET /api/dead-letters/{group}/{topic}'>['data'][number];
type DeadLetterState = DeadLetter['state'];

const FOLLOW_MS = 5_000;

interface DeadLettersProps {
  /** Those that are shown; what waits for a decision when absent. */
  readonly state: DeadLetterState | undefined;
  readonly onState: (state: DeadLetterState) => void;
}

/** Events that were given up, until somebody decides about them. */
export function DeadLetters({ state = 'waiting', onState }: DeadLettersProps) {
  const query = useQuery({
    queryKey: ['dead-letter-groups'],
    queryFn: async ({ signal }) => (await api.call('GET /api/dead-letters', { signal })).groups,
    refetchInterval: FOLLOW_MS,
  });
  const groups = query.data?.filter(
    ({ waiting, redelivering, discarded }) => waiting + redelivering + discarded > 0,
  );
  return (
    <Section
      title="Dead letters"
      description="Events that were given up after many deliveries. Each waits for a decision."
    >
      {query.error && !groups ? (
        <Failure error={query.error} what="the dead letters" onRetry={() => void query.refetch()} />
      ) : !groups ? (
        <SkeletonRows rows={2} />
      ) : groups.length === 0 ? (
        <Empty icon="check" title="No dead letter">
          Every event was handled. What cannot be handled is kept here, with its reason, and holds up nothing
          else.
        </Empty>
      ) : (
        <div className="grid gap-8">
          {groups.map((group) => (
            <GroupLetters key={`${group.group} ${group.topic}`} of={group} state={state} onState={onState} />
          ))}
        </div>
      )}
    </Section>
  );
}

function GroupLetters({
  of: group,
  state,
  onState,
}: {
  readonly of: Group;
  readonly state: DeadLetterState;
  readonly onState: (state: DeadLetterState) => void;
}) {
  const [opened, setOpened] = useState<DeadLetter>();
  const letters = useInfiniteQuery({
    queryKey: ['dead-letters', group.group, group.topic, state],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/dead-letters/{group}/{topic}', {
        params: { group: group.group, topic: group.topic },
        query: { state, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    refetchInterval: FOLLOW_MS,
  });
  const rows = letters.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h3 className="text-sm font-medium">
          <Id>{group.topic}</Id> <span className="text-ink-soft">of</span> <Id>{group.group}</Id>
        </h3>
        <Select
          aria-label="State"
          className="!w-48"
          value={state}
          onChange={({ target }) => onState(target.value as DeadLetterState)}
        >
          <option value="waiting">Waiting, {count(group.waiting)}</option>
          <option value="redelivering">Under way again, {count(group.redelivering)}</option>
          <option value="discarded">Discarded, {count(group.discarded)}</option>
        </Select>
      </div>
      {letters.error ? (
        <Failure error={letters.error} what="the dead letters" onRetry={() => void letters.refetch()} />
      ) : letters.isPending ? (
        <SkeletonRows rows={2} />
      ) : rows.length === 0 ? (
        <p className="text-sm text-ink-soft">None in this state.</p>
      ) : (
        <Table
          caption="Dead letters"
          rows={rows}
          columns={columns(setOpened)}
          rowId={({ position }) => position}
        />
      )}
      {letters.hasNextPage && (
        <Button
          className="justify-self-center"
          busy={letters.isFetchingNextPage}
          onClick={() => void letters.fetchNextPage()}
        >
          Older ones
        </Button>
      )}
      <Dialog
        wide
        open={opened !== undefined}
        onOpenChange={() => setOpened(undefined)}
        title={`Dead letter ${opened?.position ?? ''}`}
      >
        {opened && <DeadLetterView of={opened} onDone={() => setOpened(undefined)} />}
      </Dialog>
    </div>
  );
}

function columns(onOpen: (letter: DeadLetter) => void): readonly Column<DeadLetter>[] {
  return [
    { id: 'position', header: 'Position', cell: ({ row: { original } }) => <Id>{original.position}</Id> },
    {
      id: 'reason',
      header: 'Why it failed',
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
      header: 'Deliveries',
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original } }) => count(original.attempts),
    },
    {
      id: 'died',
      header: 'Given up',
      meta: { hide: 'phone' },
      cell: ({ row: { original } }) => <Time at={original.dead_lettered_at} />,
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      meta: { className: 'text-right' },
      cell: ({ row: { original } }) => (
        <Button small onClick={() => onOpen(original)}>
          Decide
        </Button>
      ),
    },
  ];
}
