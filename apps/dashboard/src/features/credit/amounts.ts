import { nanoUsdOf } from '../../format/money';

/** The error of a typed amount; undefined for a valid amount above 0. */
export function amountError(text: string): string | undefined {
  const amount = text.trim();
  if (/^\d{1,9}(\.\d{1,9})?$/.test(amount) && nanoUsdOf(amount) > 0n) return undefined;
  return 'Enter an amount above 0, with up to nine decimal places.';
}
