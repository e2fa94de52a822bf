import type { Budget } from '@gateway/base';

/**
 * What a budget counts in, where the accounts of its owner have other sums: the hours of a rolling window, of models or of
 * an end user. Ids of owners have no slash, so no two budgets that count differently have the same name.
 *
 * @returns undefined for a budget of all that its owner spends in a period of days.
 */
export function counterOf({
  ownerId,
  period,
  model,
  endUser,
}: Pick<Budget, 'ownerId' | 'period' | 'model' | 'endUser'>): string | undefined {
  const part = model !== undefined ? `/model/${model}` : endUser !== undefined ? `/user/${endUser}` : '';
  if (part === '' && period !== 'window') return undefined;
  return `${period === 'total' ? '*' : ''}${ownerId}${part}`;
}
