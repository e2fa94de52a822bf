import { auditLedger } from '@gateway/ledger-audit';
import { statesAfter } from './explain-outcomes';
import type { History, Step } from './history';
import { EMPTY_MODEL, NO_ACCOUNT, type Account, type ModelState } from './ledger-model';
import type { Observed, SimulatedLedger } from './simulated-ledger';

/** Where a history went wrong. */
export interface HistoryFailure {
  /** Index of the step after which it showed; the number of steps when it was at the end. */
  readonly step: number;
  readonly what: string;
}

/** Looks on during every step and after it, besides the auditor; answers what it holds against the books. */
export type Witness = (ledger: SimulatedLedger) => Promise<readonly string[]>;

/** Lets a history happen and looks at the books after every step. Undefined: everything is as it must be. */
export async function runHistory(
  ledger: SimulatedLedger,
  history: History,
  witness: Witness = async () => [],
): Promise<HistoryFailure | undefined> {
  await ledger.begin(history);
  let possible: readonly ModelState[] = [EMPTY_MODEL];
  for (const [index, step] of [...history.steps, ...ENDING].entries()) {
    try {
      if (step.kind === 'time') {
        ledger.fixture.clock.advance(step.ms);
        continue;
      }
      const [after, seen] = await Promise.all([take(ledger, history, step, possible), witness(ledger)]);
      possible = after;
      const { faults: unsound } = await auditLedger(ledger.fixture.auditPool);
      const faults = [...unsound, ...seen, ...(await witness(ledger))];
      if (faults.length > 0) throw new Unsound(faults.join('; '));
    } catch (error) {
      return {
        step: Math.min(index, history.steps.length),
        what: error instanceof Error ? error.message : String(error),
      };
    }
  }
  const open = possible.flatMap(({ holds }) => [...holds.values()]).filter(({ state }) => state === 'held');
  return open.length === 0 ? undefined : { step: history.steps.length, what: 'a hold never ended' };
}

class Unsound extends Error {}

/** Every deadline passes, and the reaper comes. */
const ENDING: readonly Step[] = [
  { kind: 'time', ms: 100_000 },
  { kind: 'calls', calls: [{ ledger: 2, operation: { kind: 'reap', limit: 1_000 } }] },
];

async function take(
  ledger: SimulatedLedger,
  { generations }: History,
  { calls }: Extract<Step, { kind: 'calls' }>,
  before: readonly ModelState[],
): Promise<readonly ModelState[]> {
  const made = await Promise.all(calls.map((call) => ledger.call(call)));
  if (calls.some(({ fault }) => fault)) await ledger.settleDown();
  const setting = { generations, now: ledger.fixture.clock.now() };
  const explained = statesAfter(before, made, setting);
  if (explained.length === 0) {
    const heard = made.map(({ operation, outcome }) => `${operation.kind}: ${outcome ?? 'nothing'}`);
    throw new Unsound(`no order of these calls explains what was heard: ${heard.join(' | ')}`);
  }
  const observed = await ledger.observe();
  const matching = explained.filter((state) => differenceOf(state, observed) === undefined);
  const [first] = explained;
  if (matching.length === 0 && first) throw new Unsound(differenceOf(first, observed));
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
