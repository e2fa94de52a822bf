import { auditLedger } from '@gateway/ledger-audit';
import { statesAfter } from './explain-outcomes';
import type { History, Step } from './history';
import { EMPTY_MODEL, NO_ACCOUNT, type Account, type ModelState } from './model-state';
import type { Observed, SimulatedLedger } from './simulated-ledger';

/** The failure of a history. */
export interface HistoryFailure {
  /** Index of the step that failed; the number of steps for the final check. */
  readonly step: number;
  readonly what: string;
}

/** An additional check, which runs during and after every step and returns problems. */
export type ExtraCheck = (ledger: SimulatedLedger) => Promise<readonly string[]>;

/** Runs a history and checks the ledger after every step. Undefined: no failure. */
export async function runHistory(
  ledger: SimulatedLedger,
  history: History,
  extraCheck: ExtraCheck = async () => [],
): Promise<HistoryFailure | undefined> {
  await ledger.reset(history);
  let possible: readonly ModelState[] = [EMPTY_MODEL];
  for (const [index, step] of [...history.steps, ...FINAL_STEPS].entries()) {
    try {
      if (step.kind === 'time') {
        await ledger.fixture.clock.advance(step.ms);
        continue;
      }
      const [after, seen] = await Promise.all([take(ledger, history, step, possible), extraCheck(ledger)]);
      possible = after;
      const { faults: audited } = await auditLedger(ledger.fixture.auditPool);
      const faults = [...audited, ...seen, ...(await extraCheck(ledger))];
      if (faults.length > 0) throw new InconsistentLedgerError(faults.join('; '));
    } catch (error) {
      return {
        step: Math.min(index, history.steps.length),
        what: error instanceof Error ? error.message : String(error),
      };
    }
  }
  const open = possible.flatMap(({ holds }) => [...holds.values()]).filter(({ state }) => state === 'held');
  return open.length === 0 ? undefined : { step: history.steps.length, what: 'a hold was never closed' };
}

class InconsistentLedgerError extends Error {}

/** All deadlines pass and the reaper runs. */
const FINAL_STEPS: readonly Step[] = [
  { kind: 'time', ms: 100_000 },
  { kind: 'calls', calls: [{ ledger: 2, operation: { kind: 'reap', limit: 1_000 } }] },
];

async function take(
  ledger: SimulatedLedger,
  { generations }: History,
  { calls }: Extract<Step, { kind: 'calls' }>,
  before: readonly ModelState[],
): Promise<readonly ModelState[]> {
  const completed = await Promise.all(calls.map((call) => ledger.call(call)));
  if (calls.some(({ fault }) => fault)) await ledger.waitForOrphanedStatements();
  const setting = { generations, now: ledger.fixture.clock.now() };
  const explained = statesAfter(before, completed, setting);
  if (explained.length === 0) {
    const results = completed.map(({ operation, outcome }) => `${operation.kind}: ${outcome ?? 'nothing'}`);
    throw new InconsistentLedgerError(
      `no order of these calls produces these results: ${results.join(' | ')}`,
    );
  }
  const observed = await ledger.observe();
  const matching = explained.filter((state) => differenceOf(state, observed) === undefined);
  const [first] = explained;
  if (matching.length === 0 && first) throw new InconsistentLedgerError(differenceOf(first, observed));
  return matching;
}

function differenceOf(state: ModelState, { accounts, announced }: Observed): string | undefined {
  for (const name of new Set([...accounts.keys(), ...state.accounts.keys()])) {
    const found = accounts.get(name) ?? NO_ACCOUNT;
    const wanted = state.accounts.get(name) ?? NO_ACCOUNT;
    for (const part of Object.keys(NO_ACCOUNT) as (keyof Account)[]) {
      if (found[part] !== wanted[part])
        return `${part} of ${name} is ${found[part]} instead of ${wanted[part]}`;
    }
  }
  for (const id of new Set([...announced.keys(), ...state.announced.keys()])) {
    const found = describe(announced.get(id));
    const wanted = describe(state.announced.get(id));
    if (found !== wanted) return `${id} was announced ${found} instead of ${wanted}`;
  }
  return undefined;
}

function describe(settled: { cost: bigint; charged: bigint } | undefined): string {
  return settled ? `at ${settled.cost}, charged ${settled.charged}` : 'never';
}
