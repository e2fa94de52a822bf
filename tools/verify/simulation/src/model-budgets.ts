import { DAY_MS } from '@gateway/base';
import type { CountedBudget, Generation } from './history';
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

/** What is counted by the hour, in addition to days and all time: windows of an owner, its models, or an end user. */
export function countersOf({ key, project, window, counted }: Generation): string[] {
  const owners = { key, end_user: key, project: project?.id, organization: '' };
  const windowOwner = window && owners[window.owner];
  const countedOwner = counted && owners[counted.owner];
  return [
    ...(windowOwner === undefined ? [] : [windowOwner]),
    ...(counted === undefined || countedOwner === undefined ? [] : [nameOf(countedOwner, counted)]),
  ];
}

function nameOf(owner: string, { owner: kind, of, period }: CountedBudget): string {
  return `${period === 'total' ? '*' : ''}${owner}/${kind === 'end_user' ? 'user' : 'model'}/${of}`;
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
  const counters = countersOf(one);
  const inBatch = batch.filter((each) => each.organization === one.organization);
  /** What is held counts always; what is charged, in its hour of admission. */
  const usedIn = (counter: string, isInPeriod: (hold: Hold) => boolean): bigint =>
    [...draft.holds]
      .filter(([, hold]) => hold.organization === organization)
      .filter(([, hold]) => hold.counters.includes(counter) && isInPeriod(hold))
      .reduce(
        (sum, [id]) => sum + (draft.announced.get(id)?.charged ?? 0n),
        heldBy((hold) => hold.counters.includes(counter)),
      );
  type Row = [name: string, budget: number, used: bigint, counts: (hold: Hold) => boolean];
  /** The budgets of a batch with a counter apply to the holds that count in it. */
  const windows = (kind: string): Row[] =>
    inBatch
      .flatMap((each) =>
        each.window?.owner === kind
          ? countersOf(each)
              .slice(0, 1)
              .map((counter) => ({ ...each.window, counter }))
          : [],
      )
      .filter(({ counter }) => one.window?.owner === kind && counters[0] === counter)
      .sort(
        (first, second) =>
          (second.hours ?? 0) - (first.hours ?? 0) || (first.amount ?? 0) - (second.amount ?? 0),
      )
      .map(({ counter, hours = 0, amount: budget = 0 }) => [
        `${kind} window`,
        budget,
        usedIn(counter, (hold) => hold.hour > hour - hours),
        (hold) => hold.counters.includes(counter),
      ]);
  const IN_PERIOD: Readonly<Record<CountedBudget['period'], (hold: Hold) => boolean>> = {
    day: (hold) => hold.day === day,
    week: (hold) => weekOf(hold.day) === weekOf(day),
    month: (hold) => monthOf(hold.day) === monthOf(day),
    total: () => true,
  };
  const counted = (kind: string, period: CountedBudget['period']): Row[] =>
    inBatch
      .flatMap((each) =>
        each.counted?.owner === kind && each.counted.period === period
          ? countersOf(each)
              .slice(-1)
              .map((counter) => ({ counter, budget: each.counted?.amount ?? 0 }))
          : [],
      )
      .filter(({ counter }) => counters.includes(counter))
      .sort((first, second) => first.budget - second.budget)
      .map(({ counter, budget }) => [
        `${kind} ${period}`,
        budget,
        usedIn(counter, IN_PERIOD[period]),
        (hold) => hold.counters.includes(counter),
      ]);
  const budgets: readonly [
    name: string,
    budget: number | bigint | undefined,
    used: string | bigint,
    counts: (hold: Hold) => boolean,
  ][] = [
    ['run total', runBudget, `${organization} ${run}`, (hold) => hold.run === run],
    ...counted('end_user', 'month'),
    ...counted('end_user', 'total'),
    ...counted('key', 'month'),
    ...counted('key', 'total'),
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
    ...counted('project', 'month'),
    ...counted('project', 'total'),
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
    ...counted('organization', 'month'),
    ...counted('organization', 'total'),
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
    ...counted('end_user', 'week'),
    ...counted('key', 'week'),
    [
      'key week',
      ofItsKey((each) => each.weekBudgets.key),
      `${organization} ${weekOf(day)} ${one.key}`,
      (hold) => ofKey(hold) && inWeek(hold),
    ],
    ...windows('key'),
    ...counted('project', 'week'),
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
    ...counted('organization', 'week'),
    [
      'organization week',
      ofOrganization((each) => each.weekBudgets.organization),
      `${organization} ${weekOf(day)}`,
      inWeek,
    ],
    ...windows('organization'),
    ...counted('end_user', 'day'),
    ...counted('key', 'day'),
    [
      'key day',
      ofItsKey((each) => each.keyBudget),
      `${organization} ${day} ${one.key}`,
      (hold) => ofKey(hold) && hold.day === day,
    ],
    ...counted('project', 'day'),
    [
      'project day',
      ofItsProject((each) => each.day),
      `${organization} ${day} ${project}`,
      (hold) => ofProject(hold) && hold.day === day,
    ],
    ...counted('organization', 'day'),
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
