import { auditOf, type AuditEntry, type Clock, type JsonObject } from '@gateway/base';
import {
  DeadLettersDefinition,
  DeadLetterOutcome,
  deadLetterStateMessage,
  deadLetterStateOf,
  type DeadLetterRef as RefMessage,
  type DeadLetter as DeadLetterMessage,
} from '@gateway/contracts/events';
import { GatewayError } from '@gateway/errors';
import { bindService, actorOf, type BoundService, type CallContext } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import type { DeadLetter, DeadLetterRef, InspectableEventLog } from '../dead-letters';
import type { TopicGroup } from '../event-log';
import { renderPayload } from './render-payload';

const MAX_PAGE_SIZE = 200;
const MAX_REASON_LENGTH = 500;
const MAX_RAW_BYTES = 16 * 1024;

/** The service DeadLetters of a process, limited to its own consumer groups. */
export function createDeadLetterService(
  log: InspectableEventLog,
  groups: readonly TopicGroup[],
  clock: Clock,
): BoundService {
  const { deadLetters } = log;
  const isServed = ({ topic, group }: TopicGroup) =>
    groups.some((each) => each.topic === topic && each.group === group);

  /** Undefined for a group of another process, like an unknown dead letter. */
  const refOf = (ref: RefMessage | undefined): DeadLetterRef | undefined =>
    ref && isServed(ref) ? ref : undefined;

  function auditEntry(
    context: CallContext,
    action: string,
    { group, topic, position }: DeadLetterRef,
    details: JsonObject,
  ): AuditEntry {
    const target = `${group}/${topic}/${position}`;
    return auditOf({ actor: actorOf(context), action, target, details }, { newId, clock });
  }

  return bindService(DeadLettersDefinition, {
    async listGroups() {
      const counted = await Promise.all(
        groups.map(async ({ topic, group }) => ({
          topic,
          group,
          ...(await deadLetters.count({ topic, group })),
        })),
      );
      return {
        groups: counted.filter(
          ({ waiting, redelivering, discarded }) => waiting + redelivering + discarded > 0,
        ),
      };
    },

    async countWaiting() {
      const counted = groups.map(async ({ topic, group }) => ({
        topic,
        group,
        events: BigInt(await log.countWaiting({ topic, group })),
      }));
      return { groups: await Promise.all(counted) };
    },

    async listDeadLetters({ topic, group, state: wanted, pageSize, pageToken }) {
      const state = deadLetterStateOf(wanted);
      if (!state) throw invalid('state', 'The state is unknown.');
      if (pageSize < 1 || pageSize > MAX_PAGE_SIZE)
        throw invalid('page_size', 'The page size is out of range.');
      if (!isServed({ topic, group })) return { deadLetters: [], nextPageToken: '' };
      const before = pageToken === '' ? {} : { before: positionOf(pageToken) };
      const page = await deadLetters.list({ topic, group, state, limit: pageSize, ...before });
      return {
        deadLetters: page.deadLetters.map(renderDeadLetter),
        nextPageToken: page.nextBefore?.toString() ?? '',
      };
    },

    async getDeadLetter(request) {
      const ref = refOf(request.ref);
      const found = ref && (await deadLetters.read(ref));
      if (!found) return { deadLetter: undefined };
      const payloadJson = renderPayload(found.topic, found.payload);
      return {
        deadLetter: {
          deadLetter: renderDeadLetter(found),
          headers: { ...found.headers },
          payloadJson,
          payload:
            payloadJson === undefined ? Buffer.from(found.payload.subarray(0, MAX_RAW_BYTES)) : undefined,
        },
      };
    },

    async redeliverDeadLetter(request, context) {
      const ref = refOf(request.ref);
      const outcome = ref
        ? await deadLetters.redeliver(ref, auditEntry(context, 'dead_letter.redeliver', ref, {}))
        : 'not_found';
      return {
        outcome:
          outcome === 'not_found'
            ? DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND
            : DeadLetterOutcome.DEAD_LETTER_OUTCOME_DONE,
      };
    },

    async discardDeadLetter(request, context) {
      const reason = request.reason.replaceAll('\0', '').trim();
      if (reason === '' || reason.length > MAX_REASON_LENGTH) {
        throw invalid('reason', `The reason must have 1 to ${MAX_REASON_LENGTH} characters.`);
      }
      const ref = refOf(request.ref);
      const outcome = ref
        ? await deadLetters.discard(ref, reason, auditEntry(context, 'dead_letter.discard', ref, { reason }))
        : 'not_found';
      return { outcome: DISCARDS[outcome] };
    },
  });
}

const DISCARDS = {
  discarded: DeadLetterOutcome.DEAD_LETTER_OUTCOME_DONE,
  not_found: DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND,
  redelivering: DeadLetterOutcome.DEAD_LETTER_OUTCOME_REDELIVERING,
} as const;

function renderDeadLetter(deadLetter: DeadLetter): DeadLetterMessage {
  const { topic, group, position, discarded } = deadLetter;
  return {
    ref: { topic, group, position },
    key: deadLetter.key,
    state: deadLetterStateMessage(deadLetter.state),
    reason: deadLetter.reason,
    attempts: deadLetter.attempts,
    deadLetteredUnixMs: BigInt(deadLetter.deadLetteredUnixMs),
    failedUnixMs: BigInt(deadLetter.failedUnixMs),
    discardedUnixMs: discarded && BigInt(discarded.unixMs),
    discardedReason: discarded?.reason,
    payloadBytes: deadLetter.payloadBytes,
  };
}

function positionOf(pageToken: string): bigint {
  if (!/^\d{1,18}$/.test(pageToken)) throw invalid('page_token', 'Unknown page_token.');
  return BigInt(pageToken);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { message, param });
}
