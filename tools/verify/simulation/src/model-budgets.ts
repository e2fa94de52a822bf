import { DAY_MS } from '@gateway/base';
import type { Generation } from './history';
import type { Draft, Hold } from './model-state';

/** Adds to what the owners of a hold have used. */
export function use(
  draft: Draft,
  { organization, day, key, project, run }: Pick<Hold, 'organization' | 'day' | 'key' | 'project' | 'run'>,
  amount: bigint,
): void {
  const periods = [day, weekOf(day), monthOf(day), ALL_TIME];
  const names = periods.flatMap((period) => [
    `${organization} ${period}`,
    `${organization} ${period} ${key}`,
    ...(project === undefined ? [] : [`${organization} ${period} ${project}`]),
  ]);
  for (const name of run === undefined ? names : [...names, `${organization} ${run}`]) {
    draft.used.set(name, (draft.used.get(name) ?? 0n) + amount);
  }
}

interface Wanted extends Pick<Hold, 'organization' | 'day' | 'hour' | 'run' | 'amount'> {
  readonly runBudget: number | bigint | undefined;
}

interface Window {
  readonly kind: string;
  readonly owner: string;
  readonly hours: number;
  readonly amount: number;
}

/** The budgets of windows that apply to a generation: those that any of its batch names for the same owner. */
export function windowsOf(one: Generation, batch: readonly Generation[]): Window[] {
  const ownerOf = ({ key, project }: Generation) => ({ key, project: project?.id, organization: '' });
  return batch.flatMap((each) => {
    if (!each.window || each.organization !== one.organization) return [];
    const { owner: kind, ...budget } = each.window;
    const owner = ownerOf(each)[kind];
    return owner !== undefined && owner === ownerOf(one)[kind] ? [{ kind, owner, ...budget }] : [];
  });
}

/** Why an amount cannot be held in addition; undefined if it can. The budgets of a batch apply to all its holds. */
export function refusalOf(
  draft: Draft,
  one: Generation,
  batch: readonly Generation[],
  { organization, day, hour, run, runBudget, amount }: Wanted,
): string | undefined {
  const heldBy = (matches: (hold: Hold) => boolean): bigint =>
    [...draft.holds.values()]
      .filter((each) => each.state === 'held' && each.organization === organization && matches(each))
      .reduce((sum, each) => sum + each.amount, 0n);
  const available = draft.accounts.get(organization)?.available ?? 0n;
  if (available < amount) return `insufficient_credits ${available}, ${heldBy(() => true)} held`;
  const lowest = (
    budgetOf: (each: Generation) => number | undefined,
    hasSameOwner: (each: Generation) => boolean,
  ): number | undefined => {
    const sameOwner = batch.filter((each) => each.organization === one.organization && hasSameOwner(each));
    const budgets = sameOwner.map(budgetOf).filter((budget) => budget !== undefined);
    return budgets.length === 0 ? undefined : Math.min(...budgets);
  };
  const ofOrganization = (budgetOf: (each: Generation) => number | undefined) => lowest(budgetOf, () => true);
  const ofItsKey = (budgetOf: (each: Generation) => number | undefined) =>
    lowest(budgetOf, ({ key }) => key === one.key);
  const ofItsProject = (budgetOf: (each: NonNullable<Generation['project']>) => number | undefined) =>
    lowest(
      (each) => each.project && budgetOf(each.project),
      (each) => each.project !== undefined && each.project.id === one.project?.id,
    );
  const inMonth = (hold: Hold) => monthOf(hold.day) === monthOf(day);
  const inWeek = (hold: Hold) => weekOf(hold.day) === weekOf(day);
  const ofKey = (hold: Hold) => hold.key === one.key;
  const project = one.project?.id;
  const ofProject = (hold: Hold) => hold.project === project;
  /** What is held counts always; what is charged, in its hour of admission. */
  const windows = (kind: string): [string, number, bigint, (hold: Hold) => boolean][] =>
    windowsOf(one, batch)
      .filter((each) => each.kind === kind)
      .sort((first, second) => second.hours - first.hours || first.amount - second.amount)
      .map(({ owner, hours, amount: budget }) => {
        const counts = (hold: Hold) => hold.windowOwners.includes(owner);
        const spent = [...draft.holds]
          .filter(
            ([, hold]) => hold.organization === organization && counts(hold) && hold.hour > hour - hours,
          )
          .reduce((sum, [id]) => sum + (draft.announced.get(id)?.charged ?? 0n), 0n);
        return [`${kind} window`, budget, spent + heldBy(counts), counts];
      });
  const budgets: readonly [
    name: string,
    budget: number | bigint | undefined,
    used: string | bigint,
    counts: (hold: Hold) => boolean,
  ][] = [
    ['run total', runBudget, `${organization} ${run}`, (hold) => hold.run === run],
    [
      'key month',
      ofItsKey((each) => each.longBudgets.keyMonth),
      `${organization} ${monthOf(day)} ${one.key}`,
      (hold) => ofKey(hold) && inMonth(hold),
    ],
    [
      'key total',
      ofItsKey((each) => each.longBudgets.keyTotal),
      `${organization} ${ALL_TIME} ${one.key}`,
      ofKey,
    ],
    [
      'project month',
      ofItsProject((each) => each.month),
      `${organization} ${monthOf(day)} ${project}`,
      (hold) => ofProject(hold) && inMonth(hold),
    ],
    [
      'project total',
      ofItsProject((each) => each.total),
      `${organization} ${ALL_TIME} ${project}`,
      ofProject,
    ],
    [
      'organization month',
      ofOrganization((each) => each.longBudgets.organizationMonth),
      `${organization} ${monthOf(day)}`,
      inMonth,
    ],
    [
      'organization total',
      ofOrganization((each) => each.longBudgets.organizationTotal),
      `${organization} ${ALL_TIME}`,
      () => true,
    ],
    [
      'key week',
      ofItsKey((each) => each.weekBudgets.key),
      `${organization} ${weekOf(day)} ${one.key}`,
      (hold) => ofKey(hold) && inWeek(hold),
    ],
    ...windows('key'),
    [
      'project week',
      lowest(
        (each) => each.weekBudgets.project,
        (each) => each.project !== undefined && each.project.id === project,
      ),
      `${organization} ${weekOf(day)} ${project}`,
      (hold) => ofProject(hold) && inWeek(hold),
    ],
    ...windows('project'),
    [
      'organization week',
      ofOrganization((each) => each.weekBudgets.organization),
      `${organization} ${weekOf(day)}`,
      inWeek,
    ],
    ...windows('organization'),
    [
      'key day',
      ofItsKey((each) => each.keyBudget),
      `${organization} ${day} ${one.key}`,
      (hold) => ofKey(hold) && hold.day === day,
    ],
    [
      'project day',
      ofItsProject((each) => each.day),
      `${organization} ${day} ${project}`,
      (hold) => ofProject(hold) && hold.day === day,
    ],
    [
      'organization day',
      ofOrganization((each) => each.organizationBudget),
      `${organization} ${day}`,
      (hold) => hold.day === day,
    ],
  ];
  for (const [name, budget, usedName, counts] of budgets) {
    const used = typeof usedName === 'bigint' ? usedName : (draft.used.get(usedName) ?? 0n);
    if (budget !== undefined && used + amount > BigInt(budget)) {
      return `${name} budget ${used}, ${heldBy(counts)} held`;
    }
  }
  return undefined;
}

const ALL_TIME = 'all time';

function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** Named after its Monday. 1970 began on a Thursday. */
function weekOf(day: string): string {
  const days = Date.parse(day) / DAY_MS;
  return `week of ${dayOf((days - ((days + 3) % 7)) * DAY_MS)}`;
}

export function hourOf(unixMs: number): number {
  return Math.floor(unixMs / 3_600_000);
}

export function dayOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}
