/** Amounts are decimal strings of US dollars with up to nine decimal places, such as "1234.5015". */

/**
 * How many digits to show.
 * - `significant`: cents from one dollar, three significant digits below.
 * - `cents`: for balances; rounded down, so that it never shows more than there is.
 * - `all`: exact, for amounts that add up and for those that people enter.
 */
export type MoneyDigits = 'significant' | 'cents' | 'all';

const CENTS = 2;
const SIGNIFICANT_DIGITS = 3;
const NANO_DIGITS = 9;
const NANO_PER_USD = 10n ** BigInt(NANO_DIGITS);
const NANO_PER_CENT = 10n ** BigInt(NANO_DIGITS - CENTS);

/** "$0.000449", "$1,234.50", "−$3.10"; "< $0.01" for a balance below a cent. */
export function formatUsd(amount: string, digits: MoneyDigits = 'significant'): string {
  const nano = nanoUsdOf(amount);
  const size = nano < 0n ? -nano : nano;
  if (digits === 'cents' && size > 0n && size < NANO_PER_CENT) return `< ${sizeText(NANO_PER_CENT)}`;
  return `${nano < 0n ? '−' : ''}${sizeText(rounded(size, digits))}`;
}

/** "$1,234.5015", exact. */
export const exactUsd = (amount: string): string => formatUsd(amount, 'all');

/** The number of decimal places of a formatted amount, for aligning a column. */
export const decimalPlaces = (text: string): number => text.length - text.lastIndexOf('.') - 1;

function rounded(size: bigint, digits: MoneyDigits): bigint {
  if (digits === 'all') return size;
  if (digits === 'cents') return size - (size % NANO_PER_CENT);
  const places = size >= NANO_PER_USD ? CENTS : NANO_DIGITS - size.toString().length + SIGNIFICANT_DIGITS;
  const unit = 10n ** BigInt(Math.max(0, NANO_DIGITS - places));
  return ((size + unit / 2n) / unit) * unit;
}

/** With thousands separators and at least two decimal places. */
function sizeText(size: bigint): string {
  const [whole = '', fraction = ''] = usdOfNano(size).split('.');
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(CENTS, '0')}`;
}

/** An amount as people type it, for the API: "$1,000.50" is "1000.50". */
export function readAmount(text: string): string {
  const typed = text.trim().replace(/^\$/, '');
  return /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(typed) ? typed.replaceAll(',', '') : typed;
}

/** Whether people typed an amount of at least 0. */
export const isAmount = (text: string): boolean => /^\d{1,9}(\.\d{1,9})?$/.test(readAmount(text));

/** Parses an amount as nano-dollars. */
export function nanoUsdOf(amount: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(amount);
  if (!match) throw new Error(`not an amount in US dollars: ${amount}`);
  const [, minus, whole = '0', fraction = ''] = match;
  const nano = BigInt(whole + fraction.padEnd(NANO_DIGITS, '0'));
  return minus ? -nano : nano;
}

/** Formats nano-dollars as a decimal string. */
export function usdOfNano(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  return `${nano < 0n ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}${fraction && `.${fraction}`}`;
}
