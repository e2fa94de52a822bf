import type { Call, History, Operation, Step } from './history';
import type { HistoryFailure } from './run-history';

/** Runs of a candidate before it counts as passing: some failures need a certain order. */
const ATTEMPTS = 3;
const MAX_RUNS = 400;

/**
 * Removes everything from a failing history that is not needed for the failure:
 * steps, calls, faults, members of batches. The result is a local minimum: nothing
 * more can be removed.
 */
export async function shrinkHistory(
  history: History,
  run: (candidate: History) => Promise<HistoryFailure | undefined>,
): Promise<History> {
  let runs = 0;

  /** A failing candidate without the steps after its failure. */
  async function failing(candidate: History): Promise<History | undefined> {
    const attempts = isDeterministic(candidate) ? 1 : ATTEMPTS;
    for (let attempt = 0; attempt < attempts && runs < MAX_RUNS; attempt += 1) {
      runs += 1;
      const failure = await run(candidate);
      if (failure) return { ...candidate, steps: candidate.steps.slice(0, failure.step + 1) };
    }
    return undefined;
  }

  let smallest = (await firstOf(withoutRaces(history), failing)) ?? history;
  for (;;) {
    const smaller = await firstOf(smallerThan(smallest), failing);
    if (!smaller) return smallest;
    smallest = smaller;
  }
}

/** Without concurrent calls and cut statements there is only one possible order. */
function isDeterministic({ steps }: History): boolean {
  return steps.every(
    (step) => step.kind === 'time' || (step.calls.length === 1 && step.calls[0]?.fault?.kind !== 'cut'),
  );
}

async function firstOf(
  candidates: Iterable<History>,
  failing: (candidate: History) => Promise<History | undefined>,
): Promise<History | undefined> {
  for (const candidate of candidates) {
    const found = await failing(candidate);
    if (found) return found;
  }
  return undefined;
}

/** Most failures need neither faults nor concurrent calls, and such candidates run once and keep their connections. */
function* withoutRaces(history: History): Iterable<History> {
  const calm = history.steps.map((step): Step => {
    if (step.kind === 'time') return step;
    return { kind: 'calls', calls: step.calls.map(({ fault: _fault, ...call }) => call) };
  });
  yield { ...history, steps: calm.flatMap((step) => [...sequentially(step)][0] ?? [step]) };
  yield { ...history, steps: calm };
}

/** Candidates, smallest first. */
function* smallerThan(history: History): Iterable<History> {
  const { steps } = history;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < steps.length; start += size) {
      yield { ...history, steps: [...steps.slice(0, start), ...steps.slice(start + size)] };
    }
  }
  for (const [index, step] of steps.entries()) {
    for (const oneByOne of sequentially(step)) {
      yield { ...history, steps: [...steps.slice(0, index), ...oneByOne, ...steps.slice(index + 1)] };
    }
    for (const smaller of smallerSteps(step)) {
      yield { ...history, steps: steps.map((each, at) => (at === index ? smaller : each)) };
    }
  }
}

/** The concurrent calls of a step as sequential steps. */
function* sequentially(step: Step): Iterable<Step[]> {
  if (step.kind === 'time' || step.calls.length < 2) return;
  const singleCall = step.calls.map((call): Step => ({ kind: 'calls', calls: [call] }));
  yield singleCall;
  yield [...singleCall].reverse();
}

function* smallerSteps(step: Step): Iterable<Step> {
  if (step.kind === 'time') return;
  const { calls } = step;
  const withCalls = (changed: readonly Call[]): Step => ({ kind: 'calls', calls: changed });
  if (calls.length > 1) {
    for (const dropped of calls) yield withCalls(calls.filter((call) => call !== dropped));
  }
  for (const call of calls) {
    const { fault, ...withoutFault } = call;
    const replaced = (other: Call) => withCalls(calls.map((each) => (each === call ? other : each)));
    if (fault) yield replaced(withoutFault);
    for (const operation of smallerOperations(call.operation)) yield replaced({ ...call, operation });
  }
}

function* smallerOperations(operation: Operation): Iterable<Operation> {
  if (!('generations' in operation) || operation.generations.length < 2) return;
  const { generations } = operation;
  for (const index of generations.keys()) {
    yield { ...operation, generations: generations.filter((_one, at) => at !== index) };
  }
}
