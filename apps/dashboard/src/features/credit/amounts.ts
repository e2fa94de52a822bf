import { isAmount, nanoUsdOf, readAmount } from '../../format/money';

/** The error of a typed amount; undefined for a valid amount above 0. */
export function amountError(text: string): string | undefined {
  if (isAmount(text) && nanoUsdOf(readAmount(text)) > 0n) return undefined;
  return 'Enter an amount above 0, with up to nine decimal places.';
}
