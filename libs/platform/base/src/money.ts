import type { Brand } from './brand';

/** An amount in nano-dollars (1 USD = 1,000,000,000). Never a float. */
export type NanoUsd = Brand<bigint, 'NanoUsd'>;

const NANO_USD_PER_USD = 1_000_000_000n;
const FRACTION_DIGITS = 9;

export const ZERO_NANO_USD = 0n as NanoUsd;

export function nanoUsd(amount: bigint): NanoUsd {
  return amount as NanoUsd;
}

/**
 * Parses a decimal amount of US dollars such as "12.5", with at most nine digits
 * after the point, an optional leading minus, and no exponent.
 *
 * @returns undefined if the text is not such an amount.
 */
export function parseUsd(text: string): NanoUsd | undefined {
  const match = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const amount = BigInt(whole) * NANO_USD_PER_USD + BigInt(fraction.padEnd(FRACTION_DIGITS, '0'));
  return nanoUsd(sign === '-' ? -amount : amount);
}

/** The exact decimal text of an amount in US dollars, such as "0.0015". */
export function formatUsd(amount: NanoUsd): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(FRACTION_DIGITS + 1, '0');
  const whole = digits.slice(0, -FRACTION_DIGITS);
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}

/** The amount as a JSON number of US dollars; exact for amounts below eight million dollars. */
export function usdNumber(amount: NanoUsd): number {
  return Number(formatUsd(amount));
}
