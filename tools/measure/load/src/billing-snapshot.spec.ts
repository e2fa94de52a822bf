import type { Attempt } from './attempts';
import { differencesOf, problemsOfAttempt, type SettledGeneration } from './billing-snapshot';

const generation = (id: string, charged = 5n): SettledGeneration => ({
  id,
  organization: 'org-1',
  cost: 5n,
  charged,
  prices: undefined,
});
const NO_TOKENS = {
  ...{ prompt: 0n, cached: 0n, cacheWrite: 0n, cacheWrite1h: 0n, image: 0n, completion: 0n, reasoning: 0n },
};
const booksOf = (settled: readonly SettledGeneration[], recorded: readonly SettledGeneration[]) => ({
  settled: new Map(settled.map((one) => [one.id, one])),
  recorded: recorded.map((one) => ({ ...one, marker: undefined, status: 'completed', tokens: NO_TOKENS })),
});
const attempt = (changes: Partial<Attempt>): Attempt => ({
  ...{
    marker: 'm-1',
    kind: 'non-streaming',
    tenant: 'first',
    startedMs: 0,
    endedMs: 1,
    outcome: 'completed',
  },
  ...changes,
});

describe('the comparison of ledger and usage', () => {
  it('finds no differences when both have the same generations', () => {
    expect(differencesOf(booksOf([generation('a')], [generation('a')]))).toEqual([]);
  });

  it('finds a generation that is missing, duplicate or charged differently in one of them', () => {
    expect(differencesOf(booksOf([generation('a')], []))).toEqual(['a: settled, but missing in usage']);
    expect(differencesOf(booksOf([], [generation('a')]))).toEqual(['a: in usage, but never settled']);
    expect(differencesOf(booksOf([generation('a')], [generation('a'), generation('a')]))).toEqual([
      'a: twice in usage',
    ]);
    expect(differencesOf(booksOf([generation('a')], [generation('a', 4n)]))).toEqual([
      'a: settled 5/5, usage has 5/4',
    ]);
  });
});

describe('the comparison of a response and its settlement', () => {
  const { settled } = booksOf([generation('a')], []);

  it('finds a complete response that was not settled at its stated cost', () => {
    expect(problemsOfAttempt(attempt({ generationId: 'a', costNanoUsd: 5n }), settled)).toEqual([]);
    expect(problemsOfAttempt(attempt({ generationId: 'a', costNanoUsd: 6n }), settled)).toEqual([
      'm-1: the response states a cost of 6, settled at 5',
    ]);
    expect(problemsOfAttempt(attempt({ generationId: 'b', costNanoUsd: 5n }), settled)).toEqual([
      'm-1: completed as b, which was never settled',
    ]);
  });

  it('ignores a failed request', () => {
    expect(problemsOfAttempt(attempt({ outcome: 'failed' }), settled)).toEqual([]);
  });
});
