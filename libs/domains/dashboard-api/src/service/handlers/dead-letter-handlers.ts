import {
  DeadLetterOutcome,
  DeadLetterState,
  type DeadLetter,
  type DeadLetterRef,
  type DeadLettersDefinition,
  type WholeDeadLetter,
} from '@gateway/contracts/events';
import { endpoints } from '@gateway/dashboard-contract';
import type { RpcClient } from '@gateway/rpc';
import { audited } from '../audited';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { isoTime, pageView } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

const STATES = {
  waiting: DeadLetterState.DEAD_LETTER_STATE_WAITING,
  redelivering: DeadLetterState.DEAD_LETTER_STATE_REDELIVERING,
  discarded: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
} as const;
type State = keyof typeof STATES;

/** Positions are int64. */
const POSITION = /^\d{1,18}$/;

export function createDeadLetterHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { deadLetters } = ports;

  /** Who serves the letters of this group. */
  function serviceOf(group: string): RpcClient<typeof DeadLettersDefinition> {
    const service = deadLetters.get(group);
    if (!service)
      throw new DashboardError('not_found', { message: `There is no consumer group "${group}".` });
    return service;
  }

  const { groups, list, read, redeliver, discard } = endpoints.deadLetters;
  return [
    implement(groups, async () => {
      const answers = await Promise.all([...deadLetters.values()].map((service) => service.listGroups({})));
      return { groups: answers.flatMap((answer) => answer.groups) };
    }),

    implement(list, async ({ params: { group, topic }, query }) => {
      const { letters, nextPageToken } = await serviceOf(group).listDeadLetters({
        group,
        topic,
        state: STATES[query.state],
        pageSize: query.page_size,
        pageToken: query.page_token,
      });
      return pageView(letters.map(letterView), nextPageToken);
    }),

    implement(read, async ({ params }) => {
      const { letter } = await serviceOf(params.group).getDeadLetter({ ref: refOf(params) });
      if (!letter) throw notFound();
      return { letter: wholeView(letter) };
    }),

    implement(redeliver, async ({ params, actor }) => {
      const ref = refOf(params);
      const service = serviceOf(ref.group);
      await audited(
        ports,
        { actor, action: 'dead_letter.redeliver', target: targetOf(ref), details: {} },
        async () => demandDone((await service.redeliverDeadLetter({ ref })).outcome),
      );
      return undefined;
    }),

    implement(discard, async ({ params, body: { reason }, actor }) => {
      const ref = refOf(params);
      const service = serviceOf(ref.group);
      await audited(
        ports,
        { actor, action: 'dead_letter.discard', target: targetOf(ref), details: { reason } },
        async () => demandDone((await service.discardDeadLetter({ ref, reason })).outcome),
      );
      return undefined;
    }),
  ];
}

function refOf({ group, topic, position }: Record<'group' | 'topic' | 'position', string>): DeadLetterRef {
  if (!POSITION.test(position)) throw notFound();
  return { group, topic, position: BigInt(position) };
}

function targetOf({ group, topic, position }: DeadLetterRef): string {
  return `${group}/${topic}/${position}`;
}

function demandDone(outcome: DeadLetterOutcome): void {
  switch (outcome) {
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_DONE:
      return;
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_REDELIVERING:
      throw new DashboardError('conflict', { message: 'This dead letter is just being redelivered.' });
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND:
      throw notFound();
    case DeadLetterOutcome.DEAD_LETTER_OUTCOME_UNSPECIFIED:
      throw new Error('the service does not say what became of the letter');
  }
}

function notFound(): DashboardError {
  return new DashboardError('not_found', { message: 'There is no such dead letter.' });
}

function letterView(letter: DeadLetter) {
  const { ref } = letter;
  return {
    group: ref?.group ?? '',
    topic: ref?.topic ?? '',
    position: (ref?.position ?? 0n).toString(),
    key: letter.key,
    state: stateView(letter.state),
    reason: letter.reason,
    attempts: letter.attempts,
    dead_lettered_at: isoTime(letter.deadLetteredUnixMs),
    failed_at: isoTime(letter.failedUnixMs),
    discarded:
      letter.discardedUnixMs === undefined
        ? null
        : { at: isoTime(letter.discardedUnixMs), reason: letter.discardedReason ?? '' },
    payload_bytes: letter.payloadBytes,
  };
}

function wholeView({ letter, headers, payloadJson, payload }: WholeDeadLetter) {
  if (!letter) throw new Error('the service answered without the letter');
  return {
    ...letterView(letter),
    headers,
    payload: payloadJson === undefined ? null : (JSON.parse(payloadJson) as unknown),
    payload_base64: payload === undefined ? null : payload.toString('base64'),
  };
}

function stateView(state: DeadLetterState): State {
  const found = (Object.keys(STATES) as State[]).find((name) => STATES[name] === state);
  if (!found) throw new Error(`unknown state of a dead letter: ${state}`);
  return found;
}
