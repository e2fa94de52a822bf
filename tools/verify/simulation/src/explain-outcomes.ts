import { applyToModel, type ModelState, type Setting } from './ledger-model';
import type { Operation } from './history';

/** A call that was made, and what its caller heard. */
export interface MadeCall {
  readonly operation: Operation;
  /** Absent: the caller died before it heard anything. */
  readonly outcome: string | undefined;
  /** How often the ledger may have done it. The caller hears of the last time. */
  readonly times: readonly number[];
}

/**
 * In which states the ledger can be after calls that were made at once: those
 * of every order of them, one after the other, in which everybody hears what
 * they heard. None: the ledger did what no order explains.
 */
export function statesAfter(
  before: readonly ModelState[],
  calls: readonly MadeCall[],
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
  readonly call: MadeCall;
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
