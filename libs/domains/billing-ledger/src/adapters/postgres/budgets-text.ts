import type { Budget } from '@gateway/base';
import { textArray } from '@gateway/database';
import type { HoldRequest } from '../../core/credit/hold';

/**
 * The budgets of a hold as the text of a `budget[]`; undefined without any. A run always has one, without an amount
 * if its first hold has fixed it.
 */
export function budgetsOfHold({ budgets, runId }: HoldRequest): string | undefined {
  if (runId === undefined || budgets.some(isOfRun)) return textOf(budgets);
  const ofRun = { scope: 'run', ownerId: runId, period: 'total', amountNanoUsd: undefined } as const;
  return textOf([ofRun, ...budgets]);
}

/** Without that of a run, which its first hold has fixed. */
export function budgetsOfExtension({ budgets }: HoldRequest): string | undefined {
  return textOf(budgets.filter((budget) => !isOfRun(budget)));
}

function isOfRun({ scope }: Budget): boolean {
  return scope === 'run';
}

type WrittenBudget = Omit<Budget, 'amountNanoUsd'> & Partial<Budget>;

function textOf(budgets: readonly WrittenBudget[]): string | undefined {
  return budgets.length === 0 ? undefined : textArray(budgets, rowText);
}

function rowText({ scope, ownerId, period, amountNanoUsd }: WrittenBudget): string {
  return `(${scope},"${ownerId.replaceAll(/["\\]/g, '\\$&')}",${period},${amountNanoUsd ?? ''})`;
}
