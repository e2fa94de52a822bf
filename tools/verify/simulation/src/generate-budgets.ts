import { seededRandom } from '@gateway/test-support';
import type { CountedBudget, Generation, ProjectBudgets, WindowBudget } from './history';

/** Every organization has runs with these ids. */
const RUNS = ['run-1', 'run-2'];
const PROJECTS = ['proj-1', 'proj-2'];
/** Far from the seeds of runs and long budgets. */
const PROJECTS_FROM_SEED = 500_000_000;
/** Far from the seeds of projects. */
const WEEKS_FROM_SEED = 600_000_000;
/** Far from the seeds of weeks. */
export const WINDOWS_FROM_SEED = 700_000_000;
const WINDOWS_OFTEN_FROM = 230;
/** Far from the seeds of windows. */
const COUNTED_FROM_SEED = 800_000_000;

/** From numbers of their own, so that adding them left the rest of each seed's history as it was. */
export function longBudgetsAndRun(seed: number, index: number): Pick<Generation, 'run' | 'longBudgets'> {
  const random = seededRandom(seed * 1_000 + index);
  const isInRun = !random.chance(0.5);
  const run = {
    id: random.pick(RUNS),
    budget: random.chance(0.6) ? random.integer(1, 120) : undefined,
  };
  const budget = () => (random.chance(0.15) ? random.integer(0, 150) : undefined);
  const longBudgets = {
    organizationMonth: budget(),
    organizationTotal: budget(),
    keyMonth: budget(),
    keyTotal: budget(),
  };
  return { run: isInRun ? run : undefined, longBudgets };
}

/**
 * From numbers of their own, so that adding projects left the rest of each seed's history as it was. Only every third
 * history has budgets of projects: they refuse holds that would reach the other budgets.
 */
export function project(seed: number, index: number): ProjectBudgets | undefined {
  const random = seededRandom(PROJECTS_FROM_SEED + seed * 1_000 + index);
  if (random.chance(0.4)) return undefined;
  const hasBudgets = seed % 3 === 0;
  const budget = () => (hasBudgets && random.chance(0.35) ? random.integer(0, 130) : undefined);
  return { id: random.pick(PROJECTS), day: budget(), month: budget(), total: budget() };
}

/** Only every fifth history has budgets of weeks, and for one kind of owner, so that another does not refuse first. */
export const hasWeeks = (seed: number): boolean => seed % 5 === 2;

export function weekBudgets(seed: number, index: number): Generation['weekBudgets'] {
  const random = seededRandom(WEEKS_FROM_SEED + seed * 1_000 + index);
  const owner = (['key', 'project', 'organization'] as const)[Math.floor(seed / 5) % 3];
  const amount = hasWeeks(seed) && random.chance(0.6) ? random.integer(0, 60) : undefined;
  return { organization: undefined, key: undefined, project: undefined, [owner as string]: amount };
}

/** A few of the first histories, which have to find other faults, and half of the later ones. */
export const hasWindows = (seed: number): boolean =>
  seed < WINDOWS_OFTEN_FROM ? seed % 20 === 10 || seed % 20 === 15 : seed % 2 === 0;

/** Windows that end with the hour, after a day, and an hour after that. */
export function windowBudget(seed: number, index: number): WindowBudget | undefined {
  const random = seededRandom(WINDOWS_FROM_SEED + seed * 1_000 + index);
  if (!hasWindows(seed) || random.chance(0.4)) return undefined;
  const owner = (['key', 'project', 'organization'] as const)[Math.floor(seed / 5) % 3] ?? 'key';
  return { owner, hours: random.pick([1, 1, 24, 25]), amount: random.integer(0, 60) };
}

/** As windows, in other histories. */
export const hasCounted = (seed: number): boolean =>
  seed < WINDOWS_OFTEN_FROM ? seed % 20 === 1 || seed % 20 === 8 : seed % 2 === 1;

export function countedBudget(seed: number, index: number): CountedBudget | undefined {
  const random = seededRandom(COUNTED_FROM_SEED + seed * 1_000 + index);
  if (!hasCounted(seed) || random.chance(0.3)) return undefined;
  return {
    owner: (['end_user', 'key', 'project', 'organization'] as const)[Math.floor(seed / 5) % 4] ?? 'key',
    of: random.pick(['one', 'one', 'two*']),
    period: random.pick(['day', 'week', 'month', 'total']),
    amount: random.integer(0, 60),
  };
}

/** All generations of such a history have the same owners, so that they share counters. */
export function withSharedOwners(seed: number, one: Generation): Generation {
  return hasWindows(seed) || hasCounted(seed) ? { ...one, organization: 'org-a', key: 'key-1' } : one;
}
