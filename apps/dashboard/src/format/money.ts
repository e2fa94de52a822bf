/**
 * Amounts are decimal strings of US dollars with up to nine decimal places, and are shown exactly. Only
 * `roundedUsd` rounds, and marks its result.
 */
export interface UsdParts {
  readonly sign: '' | '−';
  /** With thousands separators. */
  readonly dollars: string;
  /** Two digits. */
  readonly cents: string;
  /** The digits below a cent, without trailing zeros. */
  readonly fine: string;
}

/** @param amount such as "1234.5015" */
export function usdParts(amount: string): UsdParts {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount);
  if (!match) throw new Error(`not an amount in US dollars: ${amount}`);
  const [, minus, whole = '0', fraction = ''] = match;
  const padded = fraction.replace(/0+$/, '').padEnd(2, '0');
  return {
    sign: minus ? '−' : '',
    dollars: whole.replace(/\B(?=(\d{3})+$)/g, ','),
    cents: padded.slice(0, 2),
    fine: padded.slice(2),
  };
}

/** "$1,234.5015", exact. */
export function exactUsd(amount: string): string {
  const { sign, dollars, cents, fine } = usdParts(amount);
  return `${sign}$${dollars}.${cents}${fine}`;
}

/** For chart axes: "≈ $1.2K", or "$15K" when exact. */
export function roundedUsd(amount: number): string {
  const size = Math.abs(amount);
  if (size === 0) return '$0';
  const [value, unit] = size >= 1e6 ? [amount / 1e6, 'M'] : size >= 1e4 ? [amount / 1e3, 'K'] : [amount, ''];
  const digits =
    Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 2 : 3 - Math.floor(Math.log10(Math.abs(value))) - 1;
  const text = Number(value.toFixed(Math.min(9, digits))).toString();
  const exact = Number(text) === value;
  return `${exact ? '' : '≈ '}$${text}${unit}`.replace('$-', '−$');
}

const NANO_DIGITS = 9;

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
