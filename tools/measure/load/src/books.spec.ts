import type { Attempt } from './attempts';
import { differencesOf, faultsOfAttempt, type SettledGeneration } from './books';

const generation = (id: string, charged = 5n): SettledGeneration => ({
  id,
  organization: 'org-1',
  cost: 5n,
  charged,
});
const booksOf = (settled: readonly SettledGeneration[], shown: readonly SettledGeneration[]) => ({
  settled: new Map(settled.map((one) => [one.id, one])),
  shown: shown.map((one) => ({ ...one, marker: undefined, status: 'completed' })),
});
const attempt = (changes: Partial<Attempt>): Attempt => ({
  ...{ marker: 'm-1', kind: 'whole', tenant: 'first', beganMs: 0, endedMs: 1, outcome: 'answered' },
  ...changes,
});

describe('the comparison of ledger and usage', () => {
  it('finds nothing where both have the same generations', () => {
    expect(differencesOf(booksOf([generation('a')], [generation('a')]))).toEqual([]);
  });

  it('finds a generation that one of them lacks, has twice, or charges differently', () => {
    expect(differencesOf(booksOf([generation('a')], []))).toEqual(['a: settled, but shown nowhere']);
    expect(differencesOf(booksOf([], [generation('a')]))).toEqual([
      'a: shown as a generation, but never settled',
    ]);
    expect(differencesOf(booksOf([generation('a')], [generation('a'), generation('a')]))).toEqual([
      'a: shown twice',
    ]);
    expect(differencesOf(booksOf([generation('a')], [generation('a', 4n)]))).toEqual([
      'a: settled 5/5, shown 5/4',
    ]);
  });
});

describe('the comparison of a response and its settlement', () => {
  const { settled } = booksOf([generation('a')], []);

  it('finds a complete response that was not settled at the cost that it named', () => {
    expect(faultsOfAttempt(attempt({ generationId: 'a', costNanoUsd: 5n }), settled)).toEqual([]);
    expect(faultsOfAttempt(attempt({ generationId: 'a', costNanoUsd: 6n }), settled)).toEqual([
      'm-1: the response says 6, settled 5',
    ]);
    expect(faultsOfAttempt(attempt({ generationId: 'b', costNanoUsd: 5n }), settled)).toEqual([
      'm-1: answered as b, which was never settled',
    ]);
  });

  it('leaves a refused request alone', () => {
    expect(faultsOfAttempt(attempt({ outcome: 'refused' }), settled)).toEqual([]);
  });
});
