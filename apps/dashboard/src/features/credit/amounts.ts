import { nanoUsdOf } from '../../format/money';

/** What is wrong with an amount above 0 as it is typed; undefined when it is one. */
export function faultOfAmount(text: string): string | undefined {
  const amount = text.trim();
  if (/^\d{1,9}(\.\d{1,9})?$/.test(amount) && nanoUsdOf(amount) > 0n) return undefined;
  return 'An amount above 0, such as 12.50; up to nine digits after the point.';
}
