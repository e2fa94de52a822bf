import { ClaimBook, type KnownClaim } from './claim-book';
import { KEY_RULES, type IdempotentEnding, type KeyRule } from './endings';

const ANSWER = Buffer.from('{}');

/** The table as the public documentation tells it. */
const TABLE: readonly [IdempotentEnding, KeyRule['whenEnded'], KeyRule['whenSettled']][] = [
  ['refused', 'free', 'free'],
  ['answered', 'in_flight', 'keep_answer'],
  ['failed', 'free', 'free'],
  ['cancelled', 'free', 'free'],
  ['unknown', 'free', 'free'],
];

const claimOf = (state: KnownClaim['state'], generationId: string): KnownClaim => ({
  scope: 'scope',
  state,
  generationId,
});

it('says for every ending what becomes of the key', () => {
  expect(TABLE.map(([ending]) => ending).sort()).toEqual(Object.keys(KEY_RULES).sort());
});

describe.each(TABLE)('a generation that was %s', (ending, whenEnded, whenSettled) => {
  // An answer is offered with every ending: only the table says whether it is kept.
  const settle = (claim: KnownClaim) =>
    new ClaimBook().settle('mine', { scope: 'scope', ending, responseJson: ANSWER }, claim);

  it(`leaves its key ${whenEnded} at once`, () => {
    expect(KEY_RULES[ending].whenEnded).toBe(whenEnded);
  });

  it(`settled: ${whenSettled}`, () => {
    const responseJson = whenSettled === 'keep_answer' ? ANSWER : undefined;
    expect(settle(claimOf('running', 'mine'))).toEqual({
      isWaived: false,
      closing: { scope: 'scope', generationId: 'mine', responseJson },
    });
  });

  it('settled after another took the key over: its answer counts, its failure does not', () => {
    const { isWaived, closing } = settle(claimOf('running', 'newer'));
    expect(isWaived).toBe(false);
    expect(closing !== undefined).toBe(whenSettled === 'keep_answer');
  });

  it('settled after its key was freed: its answer counts, its failure changes nothing', () => {
    const { isWaived, closing } = settle(claimOf('released', 'mine'));
    expect(isWaived).toBe(false);
    expect(closing !== undefined).toBe(whenSettled === 'keep_answer');
  });

  it('is not charged once another has answered, and does not touch its answer', () => {
    expect(settle(claimOf('completed', 'other'))).toEqual({ isWaived: true });
    expect(settle(claimOf('completed', 'mine'))).toEqual({ isWaived: false });
  });
});

it('frees the key of an answered generation whose answer is missing', () => {
  const outcome = { scope: 'scope', ending: 'answered', responseJson: undefined } as const;
  expect(new ClaimBook().settle('mine', outcome, claimOf('running', 'mine')).closing).toEqual({
    scope: 'scope',
    generationId: 'mine',
    responseJson: undefined,
  });
});

it('carries a claim through a batch: the first answer is kept, the second not charged', () => {
  const book = new ClaimBook();
  const outcome = { scope: 'scope', ending: 'answered', responseJson: ANSWER } as const;
  const known = claimOf('running', 'second');
  expect(book.settle('first', outcome, known).closing?.responseJson).toBe(ANSWER);
  expect(book.settle('second', outcome, known)).toEqual({ isWaived: true });
});

it('carries a freed claim through a batch: who answers after it is charged, and its answer kept', () => {
  const book = new ClaimBook();
  const known = claimOf('running', 'first');
  const broken = { scope: 'scope', ending: 'failed', responseJson: undefined } as const;
  const answered = { scope: 'scope', ending: 'answered', responseJson: ANSWER } as const;
  expect(book.settle('first', broken, known).closing?.responseJson).toBeUndefined();
  expect(book.settle('second', answered, known)).toEqual({
    isWaived: false,
    closing: { scope: 'scope', generationId: 'second', responseJson: ANSWER },
  });
});
