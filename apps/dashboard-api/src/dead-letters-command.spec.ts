import { DeadLetterState } from '@gateway/contracts/events';
import { listDeadLetters } from './dead-letters-command';

const group = 'billing-ledger';
const topic = 'generation.finished';

function serviceWith(...positions: readonly bigint[]) {
  const deadLetters = positions.map((position) => ({
    ref: { group, topic, position },
    key: 'org-1',
    state: DeadLetterState.DEAD_LETTER_STATE_WAITING,
    reason: 'it has neither a hold nor prices',
    attempts: 2,
    deadLetteredUnixMs: 1_764_000_000_000n,
    failedUnixMs: 1_764_000_001_000n,
    discardedUnixMs: undefined,
    discardedReason: undefined,
    payloadBytes: 5,
  }));
  return {
    listGroups: async () => ({
      groups:
        deadLetters.length === 0
          ? []
          : [{ group, topic, waiting: deadLetters.length, redelivering: 0, discarded: 3 }],
    }),
    // One per page.
    listDeadLetters: async ({ pageToken = '' }: { pageToken?: string | undefined }) => {
      const index = Number(pageToken);
      const next = index + 1 < deadLetters.length ? String(index + 1) : '';
      return { deadLetters: deadLetters.slice(index, index + 1), nextPageToken: next };
    },
  };
}

it('lists the counts of each group, and every pending dead letter of every page', async () => {
  expect(await listDeadLetters([serviceWith(8n, 7n), serviceWith()])).toBe(
    [
      'billing-ledger/generation.finished: 2 pending, 0 redelivering, 3 discarded',
      'billing-ledger/generation.finished/8  2025-11-24T16:00:01.000Z  org-1  2 attempts  it has neither a hold nor prices',
      'billing-ledger/generation.finished/7  2025-11-24T16:00:01.000Z  org-1  2 attempts  it has neither a hold nor prices',
    ].join('\n'),
  );
});

it('says so when there are none', async () => {
  expect(await listDeadLetters([serviceWith()])).toBe('No consumer group has dead letters.');
});
