import { BatchClaims, type StoredClaim } from './batch-claims';
import { ENDING_RULES, type IdempotentEnding, type EndingRule } from './endings';

const RESPONSE = { encrypted: Buffer.from('encrypted') };

/** The table as the public documentation states it. */
const TABLE: readonly [IdempotentEnding, EndingRule['whenReported'], EndingRule['whenSettled']][] = [
  ['refused', 'free', 'free'],
  ['completed', 'in_flight', 'store_response'],
  ['failed', 'free', 'free'],
  ['cancelled', 'free', 'free'],
  ['unknown', 'free', 'free'],
];

const claimOf = (state: StoredClaim['state'], generationId: string): StoredClaim => ({
  scope: 'scope',
  state,
  generationId,
});

it('has a rule for every ending', () => {
  expect(TABLE.map(([ending]) => ending).sort()).toEqual(Object.keys(ENDING_RULES).sort());
});

describe.each(TABLE)('a generation that is %s', (ending, whenReported, whenSettled) => {
  // A response is present with every ending: only the table decides whether it is stored.
  const settle = (claim: StoredClaim) =>
    new BatchClaims().settle('mine', { scope: 'scope', ending, response: RESPONSE }, claim);

  it(`leaves its key ${whenReported} when the edge reports it`, () => {
    expect(ENDING_RULES[ending].whenReported).toBe(whenReported);
  });

  it(`settled: ${whenSettled}`, () => {
    const response = whenSettled === 'store_response' ? RESPONSE : undefined;
    expect(settle(claimOf('running', 'mine'))).toEqual({
      isWaived: false,
      closing: { scope: 'scope', generationId: 'mine', response },
    });
  });

  it('settled after a takeover of its key: stores a response, and does not release the claim', () => {
    const { isWaived, closing } = settle(claimOf('running', 'newer'));
    expect(isWaived).toBe(false);
    expect(closing !== undefined).toBe(whenSettled === 'store_response');
  });

  it('settled after the release of its key: stores a response, and changes nothing otherwise', () => {
    const { isWaived, closing } = settle(claimOf('released', 'mine'));
    expect(isWaived).toBe(false);
    expect(closing !== undefined).toBe(whenSettled === 'store_response');
  });

  it('is not charged once another has completed the key, and does not change the stored response', () => {
    expect(settle(claimOf('completed', 'other'))).toEqual({ isWaived: true });
    expect(settle(claimOf('completed', 'mine'))).toEqual({ isWaived: false });
  });
});

it('frees the key of a completed generation without a response', () => {
  const ended = { scope: 'scope', ending: 'completed', response: undefined } as const;
  expect(new BatchClaims().settle('mine', ended, claimOf('running', 'mine')).closing).toEqual({
    scope: 'scope',
    generationId: 'mine',
    response: undefined,
  });
});

it('stores the first response in a batch and does not charge the second generation', () => {
  const claims = new BatchClaims();
  const ended = { scope: 'scope', ending: 'completed', response: RESPONSE } as const;
  const stored = claimOf('running', 'second');
  expect(claims.settle('first', ended, stored).closing?.response).toBe(RESPONSE);
  expect(claims.settle('second', ended, stored)).toEqual({ isWaived: true });
});

it('charges the generation that completes a key freed earlier in the batch, and stores its response', () => {
  const claims = new BatchClaims();
  const stored = claimOf('running', 'first');
  const failed = { scope: 'scope', ending: 'failed', response: undefined } as const;
  const completed = { scope: 'scope', ending: 'completed', response: RESPONSE } as const;
  expect(claims.settle('first', failed, stored).closing?.response).toBeUndefined();
  expect(claims.settle('second', completed, stored)).toEqual({
    isWaived: false,
    closing: { scope: 'scope', generationId: 'second', response: RESPONSE },
  });
});
