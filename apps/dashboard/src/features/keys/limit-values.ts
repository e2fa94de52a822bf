import { isAmount, nanoUsdOf, readAmount } from '../../format/money';

/** The field's hint names the limit. */
const ABOVE_BOUND = 'Above the organization limit.';
const MAX_COUNT = 2_147_483_647;

export const parseLimit = (text: string) =>
  text.trim() === '' ? null : Number(text.replaceAll(/[\s,_]/g, ''));

export function limitError(
  text: string,
  bound: number | null | undefined,
  aboveBound = ABOVE_BOUND,
): string | undefined {
  if (text.trim() === '') return undefined;
  const value = parseLimit(text) ?? 0;
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_COUNT)
    return 'Enter a whole number of at least 1.';
  return typeof bound === 'number' && value > bound ? aboveBound : undefined;
}

export function budgetError(
  text: string,
  bound: string | null | undefined,
  aboveBound = ABOVE_BOUND,
): string | undefined {
  if (text.trim() === '') return undefined;
  if (!isAmount(text) || nanoUsdOf(readAmount(text)) === 0n) return 'Enter an amount above 0.';
  const amount = readAmount(text);
  return bound && nanoUsdOf(amount) > nanoUsdOf(bound) ? aboveBound : undefined;
}
