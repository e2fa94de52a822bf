import type { Budget } from '@gateway/base';
import { textArray } from '@gateway/database';
import type { HoldRequest } from '../../core/credit/hold';

/** A budget to write; the budget of a known run has no amount. */
type NamedBudget = Omit<Budget, 'amountNanoUsd'> & Partial<Budget>;

/** The budgets of a batch of holds as the text of a `budget[]`, each once. */
export function budgetsText(holds: readonly HoldRequest[]): string {
  const rows = new Set<string>();
  for (const { organizationId, budgets, runId } of holds) {
    for (const budget of budgets) rows.add(rowText(organizationId, budget));
    // The first hold of a run fixes its budget; later ones need not name it.
    if (runId !== undefined && !budgets.some(({ scope }) => scope === 'run')) {
      rows.add(rowText(organizationId, { scope: 'run', ownerId: runId, period: 'total' }));
    }
  }
  return textArray([...rows], (row) => row);
}

function rowText(
  organizationId: string,
  { scope, ownerId, period, amountNanoUsd, hours }: NamedBudget,
): string {
  return `(${quoted(organizationId)},${scope},${quoted(ownerId)},${period},${amountNanoUsd ?? ''},${hours ?? ''})`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
