import { exactUsd, nanoUsdOf, roundedUsd, usdOfNano } from './money';

it.each([
  ['0', '$0.00'],
  ['12.5', '$12.50'],
  ['0.000000001', '$0.000000001'],
  ['1234567.891', '$1,234,567.891'],
  ['-3.1', '−$3.10'],
  ['100.10', '$100.10'],
])('shows %s exactly', (amount, text) => expect(exactUsd(amount)).toBe(text));

it.each([
  [0, '$0'],
  [25, '$25'],
  [0.5, '$0.5'],
  [0.001234567, '≈ $0.00123'],
  [1234.5678, '≈ $1235'],
  [15_000, '$15K'],
  [1_234_567, '≈ $1.23M'],
])('marks a rounded amount of %s', (amount, text) => expect(roundedUsd(amount)).toBe(text));

it.each(['0', '12.5', '-0.000000001', '99999999.999999999'])('preserves every nano-dollar of %s', (amount) =>
  expect(usdOfNano(nanoUsdOf(amount))).toBe(amount),
);

it('rejects invalid amounts', () => {
  for (const text of ['', 'NaN', '1e3', '1.', '.5', '1.0000000001']) {
    expect(() => nanoUsdOf(text)).toThrow('not an amount');
  }
});
