import type { UnixMs } from '@gateway/base';
import { UsageSource } from '@gateway/contracts/common';
import {
  DeadLetterOutcome,
  DeadLettersDefinition,
  DeadLetterState,
  GenerationFinished,
  IdempotentEnding,
} from '@gateway/contracts/events';
import { createClient } from '@gateway/rpc';
import { inProcessFor } from '@gateway/test-support';
import type { DeadLetters, DeadLetterWithPayload } from '../dead-letters';
import { TOPIC_GENERATION_FINISHED } from '../event-log';
import { createDeadLetterService } from './dead-letter-service';

const OWN = { topic: TOPIC_GENERATION_FINISHED, group: 'billing-ledger' };
const ref = { ...OWN, position: 7n };
const PAYLOAD = GenerationFinished.encode(
  GenerationFinished.fromPartial({
    generationId: 'gen-1',
    createdUnixMs: 1_764_000_000_123n,
    usageSource: UsageSource.USAGE_SOURCE_COUNTED,
    usage: { promptTokens: 3 },
    endedClaim: {
      scope: 's',
      responseJson: Buffer.from('what the model said'),
      ending: IdempotentEnding.IDEMPOTENT_ENDING_COMPLETED,
    },
  }),
).finish();

const NOW = 1_764_000_000_000 as UnixMs;

let payload: Uint8Array;
let calls: string[];
let audited: number[];

const deadLetter = (): DeadLetterWithPayload => ({
  ...ref,
  key: 'org-1',
  state: 'discarded',
  reason: 'not a message',
  attempts: 2,
  deadLetteredUnixMs: 10 as UnixMs,
  failedUnixMs: 20 as UnixMs,
  discarded: { unixMs: 30 as UnixMs, reason: 'a test' },
  payloadBytes: payload.length,
  payload,
  headers: { traceparent: '00' },
});

const deadLetters: DeadLetters = {
  count: async () => ({ waiting: 1, redelivering: 0, discarded: 2 }),
  list: async (query) => {
    calls.push(`list ${query.state} ${query.before} ${query.limit}`);
    return { deadLetters: [deadLetter()], nextBefore: 7n };
  },
  read: async ({ position }) => (position === ref.position ? deadLetter() : undefined),
  redeliver: async ({ position }, audit) => {
    audited.push(audit.createdAt);
    calls.push(`redeliver ${position}`);
    return position === ref.position ? 'redelivering' : 'not_found';
  },
  discard: async ({ position }, reason, audit) => {
    audited.push(audit.createdAt);
    calls.push(`discard ${position} ${reason}`);
    return position === ref.position ? 'discarded' : 'redelivering';
  },
  auditEntries: { list: async () => [] },
};

const client = createClient(
  DeadLettersDefinition,
  inProcessFor([
    createDeadLetterService(
      { deadLetters, countWaiting: async ({ topic }) => (topic === OWN.topic ? 7 : 0) },
      [OWN],
      { now: () => NOW },
    ),
  ]),
);

beforeEach(() => {
  payload = PAYLOAD;
  calls = [];
  audited = [];
});

const WAITING = DeadLetterState.DEAD_LETTER_STATE_WAITING;
const page = { ...OWN, state: WAITING, pageSize: 50, pageToken: '' };

it('lists its groups with dead letters', async () => {
  expect(await client.listGroups({})).toEqual({
    groups: [{ ...OWN, waiting: 1, redelivering: 0, discarded: 2 }],
  });
});

it('returns the lag of its groups', async () => {
  expect(await client.countWaiting({})).toEqual({ groups: [{ ...OWN, events: 7n }] });
});

it('lists page by page', async () => {
  const { deadLetters: listed, nextPageToken } = await client.listDeadLetters(page);
  expect(listed).toEqual([
    {
      ref,
      key: 'org-1',
      state: DeadLetterState.DEAD_LETTER_STATE_DISCARDED,
      reason: 'not a message',
      attempts: 2,
      deadLetteredUnixMs: 10n,
      failedUnixMs: 20n,
      discardedUnixMs: 30n,
      discardedReason: 'a test',
      payloadBytes: payload.length,
    },
  ]);
  await client.listDeadLetters({ ...page, pageToken: nextPageToken, pageSize: 200 });
  expect(calls).toEqual(['list waiting undefined 50', 'list waiting 7 200']);
});

it.each([
  ['state', { state: DeadLetterState.DEAD_LETTER_STATE_UNSPECIFIED }],
  ['page_size', { pageSize: 0 }],
  ['page_size', { pageSize: 201 }],
  ['page_token', { pageToken: '1; drop table' }],
])('refuses a list with a bad %s', async (param, changes) => {
  await expect(client.listDeadLetters({ ...page, ...changes })).rejects.toMatchObject({
    code: 'invalid_request',
    param,
  });
});

it('renders an event with the field names of its proto, and only the size of a response', async () => {
  const { deadLetter: rendered } = await client.getDeadLetter({ ref });
  expect(rendered?.headers).toEqual({ traceparent: '00' });
  expect(rendered?.payload).toBeUndefined();
  expect(JSON.parse(rendered?.payloadJson ?? '')).toMatchObject({
    generation_id: 'gen-1',
    created_unix_ms: '1764000000123',
    usage_source: 'USAGE_SOURCE_COUNTED',
    usage: { prompt_tokens: 3 },
    ended_claim: {
      scope: 's',
      ending: 'IDEMPOTENT_ENDING_COMPLETED',
      response_json: { bytes: 'what the model said'.length },
    },
  });
});

it('returns the first bytes of an invalid payload', async () => {
  payload = new Uint8Array(20_000).fill(0xff);
  const { deadLetter: rendered } = await client.getDeadLetter({ ref });
  expect(rendered?.payloadJson).toBeUndefined();
  expect(rendered?.payload).toHaveLength(16 * 1024);
});

it('redelivers and discards, and returns the outcome', async () => {
  const { DEAD_LETTER_OUTCOME_DONE: DONE, DEAD_LETTER_OUTCOME_NOT_FOUND: NOT_FOUND } = DeadLetterOutcome;
  const missing = { ...ref, position: 8n };
  expect(await client.redeliverDeadLetter({ ref })).toEqual({ outcome: DONE });
  expect(await client.redeliverDeadLetter({ ref: missing })).toEqual({ outcome: NOT_FOUND });
  expect(await client.discardDeadLetter({ ref, reason: ' a test ' })).toEqual({ outcome: DONE });
  expect(await client.discardDeadLetter({ ref: missing, reason: 'b' })).toEqual({
    outcome: DeadLetterOutcome.DEAD_LETTER_OUTCOME_REDELIVERING,
  });
  expect(calls).toEqual(['redeliver 7', 'redeliver 8', 'discard 7 a test', 'discard 8 b']);
  expect(audited).toEqual([NOW, NOW, NOW, NOW]);
});

it.each(['', '  ', 'x'.repeat(501)])('discards nothing for the reason "%s"', async (reason) => {
  await expect(client.discardDeadLetter({ ref, reason })).rejects.toMatchObject({ param: 'reason' });
  expect(calls).toEqual([]);
});

it('has no dead letters of groups in other processes', async () => {
  const others = { ...ref, group: 'usage-aggregator' };
  const NOT_FOUND = { outcome: DeadLetterOutcome.DEAD_LETTER_OUTCOME_NOT_FOUND };
  expect((await client.listDeadLetters({ ...page, group: others.group })).deadLetters).toEqual([]);
  expect(await client.getDeadLetter({ ref: others })).toEqual({ deadLetter: undefined });
  expect(await client.redeliverDeadLetter({ ref: others })).toEqual(NOT_FOUND);
  expect(await client.discardDeadLetter({ ref: others, reason: 'no' })).toEqual(NOT_FOUND);
  expect(calls).toEqual([]);
});
