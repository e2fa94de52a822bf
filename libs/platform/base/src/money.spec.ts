import fc from 'fast-check';
import { formatUsd, nanoUsd, parseUsd, usdNumber, ZERO_NANO_USD } from './money';

describe('money', () => {
  it('has a zero', () => {
    expect(ZERO_NANO_USD).toBe(0n);
  });

  it('parses what it formats, to the nano-dollar', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (amount) => {
        expect(parseUsd(formatUsd(nanoUsd(amount)))).toBe(amount);
      }),
    );
  });

  it.each(['', '.5', '5.', '1e3', '+1', '1.0000000001', ' 1', '1,5', 'NaN', '9999999999'])(
    'refuses %j as an amount',
    (text) => expect(parseUsd(text)).toBeUndefined(),
  );

  it('converts to JSON numbers that are exact below eight million dollars', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 8_000_000n * 10n ** 9n }), (amount) => {
        expect(parseUsd(usdNumber(nanoUsd(amount)).toFixed(9))).toBe(amount);
      }),
    );
  });

  it('formats amounts without superfluous zeros', () => {
    expect(formatUsd(nanoUsd(1_500_000n))).toBe('0.0015');
    expect(formatUsd(nanoUsd(-2_000_000_000n))).toBe('-2');
    expect(formatUsd(nanoUsd(0n))).toBe('0');
  });
});
