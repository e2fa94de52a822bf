import type { Budget } from '@gateway/base';
import { textArray } from '@gateway/database';
import { counterOf } from '../../core/credit/counter';
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

/** The counters of a hold as the text of a `text[]`; undefined without any. */
export function countersText({ budgets }: HoldRequest): string | undefined {
  let counters: Set<string> | undefined;
  for (const budget of budgets) {
    const counter = counterOf(budget);
    if (counter !== undefined) (counters ??= new Set()).add(counter);
  }
  return counters && textArray([...counters], (counter) => counter);
}

function rowText(organizationId: string, budget: NamedBudget): string {
  const { scope, ownerId, period, amountNanoUsd, hours, model } = budget;
  const counter = counterOf(budget);
  const of = model === undefined ? '' : quoted(model);
  const row = `${quoted(organizationId)},${scope},${quoted(ownerId)},${period},${amountNanoUsd ?? ''},${hours ?? ''}`;
  return `(${row},${of},${counter === undefined ? '' : quoted(counter)})`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
