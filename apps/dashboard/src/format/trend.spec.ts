import { creditLeft, trend } from './trend';

describe('a trend', () => {
  it.each([
    [112_500n, 100_000n, '+12.5%'],
    [97n, 100n, '−3%'],
    [100n, 100n, '±0%'],
    [0n, 3n, '−100%'],
    [1_000_000n, 7n, '+14,285,614.3%'],
    [2_001n * 10n ** 18n, 2_000n * 10n ** 18n, '+0.1%'],
    [2_001n * 10n ** 18n - 1n, 2_000n * 10n ** 18n, '±0%'],
  ])('from %s compares with %s as %s, exactly', (current, previous, text) => {
    expect(trend(current, previous)).toBe(text);
  });

  it('does not compare with nothing', () => {
    expect(trend(5n, 0n)).toBeUndefined();
  });
});

describe('the time that credit lasts', () => {
  it.each([
    [24n, 14n, '≈ 12 days'],
    [25n, 14n, '≈ 12 days'],
    [2n, 14n, '≈ 1 day'],
    [1n, 14n, 'Less than a day'],
    [0n, 14n, '0 days'],
    [-5n, 14n, '0 days'],
    [10_000n, 14n, 'More than a year'],
    [10n, 0n, undefined],
  ])('of %s at %s in 7 days is %s', (available, spent, text) => {
    expect(creditLeft(available, spent, 7n)).toBe(text);
  });
});
