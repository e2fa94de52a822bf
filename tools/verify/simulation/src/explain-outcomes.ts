import { applyToModel, type Setting } from './ledger-model';
import type { ModelState } from './model-state';
import type { Operation } from './history';

/** A call and its result. */
export interface CompletedCall {
  readonly operation: Operation;
  /** Absent: the process terminated before it got a result. */
  readonly outcome: string | undefined;
  /** How often the ledger may have executed it. The result is that of the last execution. */
  readonly times: readonly number[];
}

/**
 * The possible states of the ledger after concurrent calls: those of every
 * sequential order that produces the same results. Empty if no order does, which is
 * a bug.
 */
export function statesAfter(
  before: readonly ModelState[],
  calls: readonly CompletedCall[],
  setting: Setting,
): ModelState[] {
  const found = new Map<string, ModelState>();
  for (const times of choices(calls.map((call) => call.times))) {
    for (const state of before) {
      follow(
        state,
        calls.map((call, index) => ({ call, left: times[index] ?? 0 })),
        setting,
        found,
      );
    }
  }
  return [...found.values()];
}

interface Pending {
  readonly call: CompletedCall;
  readonly left: number;
}

function follow(
  state: ModelState,
  pending: readonly Pending[],
  setting: Setting,
  found: Map<string, ModelState>,
): void {
  if (pending.every(({ left }) => left === 0)) {
    found.set(fingerprint(state), state);
    return;
  }
  pending.forEach(({ call, left }, index) => {
    if (left === 0) return;
    const { state: next, outcome } = applyToModel(state, call.operation, setting);
    const isLast = left === 1;
    if (isLast && call.outcome !== undefined && call.outcome !== outcome) return;
    const rest = pending.map((other, at) => (at === index ? { call, left: left - 1 } : other));
    follow(next, rest, setting, found);
  });
}

function choices(options: readonly (readonly number[])[]): number[][] {
  return options.reduce<number[][]>(
    (all, times) => all.flatMap((chosen) => times.map((count) => [...chosen, count])),
    [[]],
  );
}

function fingerprint(state: ModelState): string {
  return JSON.stringify(state, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Map)
      return [...(value as Map<string, unknown>)].sort(([one], [other]) => (one < other ? -1 : 1));
    return value;
  });
}
