import { isoTime, pageView } from '@gateway/admin-calls';
import {
  DeadLetterOutcome,
  deadLetterStateMessage,
  deadLetterStateOf,
  type DeadLetter,
  type DeadLetterRef,
  type DeadLettersDefinition,
  type DeadLetterState,
  type WholeDeadLetter,
} from '@gateway/contracts/events';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import type { RpcClient } from '@gateway/rpc';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

/** Positions are int64. */
const POSITION = /^\d{1,18}$/;

export function createDeadLetterHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { deadLetters } = ports;

  /** The service that owns the dead letters of this group. */
  function serviceOf(group: string): RpcClient<typeof DeadLettersDefinition> {
    const service = deadLetters.get(group);
    if (!service)
      throw new DashboardError('not_found', { message: `There is no consumer group "${group}".` });
    return service;
  }

  const { groups, list, get, redeliver, discard } = endpoints.deadLetters;
  return [
    implement(groups, async () => {
      const responses = await Promise.all([...deadLetters.values()].map((service) => service.listGroups({})));
      return {
        groups: responses.flatMap((response) =>
          response.groups.map(({ waiting, ...group }) => ({ ...group, pending: waiting })),
        ),
      };
    }),

    implement(list, async ({ params: { group, topic }, query }) => {
      const { deadLetters: listed, nextPageToken } = await serviceOf(group).listDeadLetters({
        group,
        topic,
        state: deadLetterStateMessage(query.state === 'pending' ? 'waiting' : query.state),
        pageSize: query.page_size,
        pageToken: query.page_token,
      });
      return pageView(listed.map(deadLetterView), nextPageToken);
    }),

    implement(get, async ({ params }) => {
      const { deadLetter } = await serviceOf(params.group).getDeadLetter({ ref: refOf(params) });
      if (!deadLetter) throw notFound();
      return { dead_letter: deadLetterDetailView(deadLetter) };
    }),

    implement(redeliver, async ({ params }) => {
      const ref = refOf(params);
      requireDone((await serviceOf(ref.group).redeliverDeadLetter({ ref })).outcome);
      return undefined;
    }),

    implement(discard, async ({ params, body: { reason } }) => {
      const ref = refOf(params);
      requireDone((await serviceOf(ref.group).discardDeadLetter({ ref, reason })).outcome);
      return undefined;
    }),
  ];
}

function refOf({ group, topic, position }: Record<'group' | 'topic' | 'position', string>): DeadLetterRef {
  if (!POSITION.test(position)) throw notFound();
  return { group, topic, position: BigInt(position) };
}

function requireDone(outcome: DeadLetterOutcome): void {
  switch (outcome) {
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_DONE:
      return;
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_REDELIVERING:
      throw new DashboardError('conflict', { message: 'This dead letter is being redelivered.' });
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND:
      throw notFound();
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_UNSPECIFIED:
      throw new Error('the response has no outcome');
  }
}

function notFound(): DashboardError {
  return new DashboardError('not_found', { message: 'There is no such dead letter.' });
}

function deadLetterView(deadLetter: DeadLetter) {
  const { ref } = deadLetter;
  return {
    group: ref?.group ?? '',
    topic: ref?.topic ?? '',
    position: (ref?.position ?? 0n).toString(),
    key: deadLetter.key,
    state: stateView(deadLetter.state),
    reason: deadLetter.reason,
    attempts: deadLetter.attempts,
    dead_lettered_at: isoTime(deadLetter.deadLetteredUnixMs),
    failed_at: isoTime(deadLetter.failedUnixMs),
    discarded:
      deadLetter.discardedUnixMs === undefined
        ? null
        : { at: isoTime(deadLetter.discardedUnixMs), reason: deadLetter.discardedReason ?? '' },
    payload_bytes: deadLetter.payloadBytes,
  };
}

function deadLetterDetailView({ deadLetter, headers, payloadJson, payload }: WholeDeadLetter) {
  if (!deadLetter) throw new Error('the response has no dead letter');
  return {
    ...deadLetterView(deadLetter),
    headers,
    payload: payloadJson === undefined ? null : (JSON.parse(payloadJson) as unknown),
    payload_base64: payload === undefined ? null : payload.toString('base64'),
  };
}

function stateView(message: DeadLetterState) {
  const state = deadLetterStateOf(message);
  if (!state) throw new Error(`unknown state of a dead letter: ${message}`);
  return state === 'waiting' ? ('pending' as const) : state;
}
