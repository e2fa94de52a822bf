import type { ClaimResult, ClaimRequest } from '../core/idempotency/claim';
import { UnbookableError } from '../core/ports';
import { createClaimBatcher } from './claim-batcher';

const request = (scope: string): ClaimRequest => ({
  scope,
  organizationId: 'org',
  bodySha256: new Uint8Array(32),
  generationId: `gen-${scope}`,
  leaseMs: 1,
  responseKey: new Uint8Array(32),
});

/** Claims all but the scope `bad`, and records every call. */
function stubStore() {
  const calls: string[][] = [];
  return {
    calls,
    async claimIdempotencyKeys(requests: readonly ClaimRequest[]): Promise<ClaimResult[]> {
      calls.push(requests.map(({ scope }) => scope));
      if (requests.some(({ scope }) => scope === 'bad')) throw new UnbookableError('cannot be stored');
      return requests.map(({ generationId }) => ({
        kind: 'completed',
        generationId,
        response: { encrypted: new Uint8Array(), key: new Uint8Array() },
      }));
    },
  };
}

describe('concurrent claims', () => {
  it('share a call of the store, and each gets its own outcome', async () => {
    const store = stubStore();
    const batcher = createClaimBatcher(store);
    const outcomes = await Promise.all(['a', 'b', 'c'].map((scope) => batcher.claim(request(scope))));
    expect(outcomes).toMatchObject([
      { generationId: 'gen-a' },
      { generationId: 'gen-b' },
      { generationId: 'gen-c' },
    ]);
    expect(store.calls.flat().sort()).toEqual(['a', 'b', 'c']);
    expect(store.calls.length).toBeLessThan(3);
  });

  it('are decided although one of them is invalid', async () => {
    const batcher = createClaimBatcher(stubStore());
    const outcomes = await Promise.allSettled(
      ['a', 'bad', 'c', 'd'].map((scope) => batcher.claim(request(scope))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: expect.any(UnbookableError) });
  });
});
