import { decimalPlaces, exactUsd, formatUsd, nanoUsdOf, usdOfNano } from './money';

it.each([
  ['0', '$0.00'],
  ['12.5', '$12.50'],
  ['0.000000001', '$0.000000001'],
  ['1234567.891', '$1,234,567.891'],
  ['-3.1', '−$3.10'],
  ['100.10', '$100.10'],
])('shows %s exactly', (amount, text) => expect(exactUsd(amount)).toBe(text));

it.each([
  ['0', '$0.00'],
  ['0.000449312', '$0.000449'],
  ['0.0004496', '$0.00045'],
  ['0.000000001', '$0.000000001'],
  ['0.015', '$0.015'],
  ['0.5', '$0.50'],
  ['0.9996', '$1.00'],
  ['12.3456', '$12.35'],
  ['1234567.891', '$1,234,567.89'],
  ['-0.0012345', '−$0.00123'],
])('shows the significant digits of %s', (amount, text) => expect(formatUsd(amount)).toBe(text));

it.each([
  ['0', '$0.00'],
  ['0.009', '< $0.01'],
  ['0.999999999', '$0.99'],
  ['249.98765', '$249.98'],
])('shows a balance of %s in cents, and never more than there is', (amount, text) =>
  expect(formatUsd(amount, 'cents')).toBe(text),
);

it('counts the decimal places of a formatted amount', () =>
  expect(['$0.000449', '$1,234.50'].map(decimalPlaces)).toEqual([6, 2]));

it.each(['0', '12.5', '-0.000000001', '99999999.999999999'])('preserves every nano-dollar of %s', (amount) =>
  expect(usdOfNano(nanoUsdOf(amount))).toBe(amount),
);

it('rejects invalid amounts', () => {
  for (const text of ['', 'NaN', '1e3', '1.', '.5', '1.0000000001']) {
    expect(() => nanoUsdOf(text)).toThrow('not an amount');
  }
});
