import { DAY_MS, type Prices } from '@gateway/base';
import { LEASE_MS, type Generation, type Operation } from './history';
import { changeOwnClaim, claim, deleteExpired, releaseClaim, settleClaim, type Claim } from './model-claims';
import { costOf, NO_PRICES } from './model-cost';

/**
 * A simple reference model of the ledger: sequential calls on in-memory maps. The
 * SQL and the core must behave like it. It shares no code with them, so that one
 * mistake cannot be in both.
 */
export interface ModelState {
  readonly accounts: ReadonlyMap<string, Account>;
  readonly credits: ReadonlyMap<string, { readonly organization: string; readonly amount: bigint }>;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Spent and held amounts by organization and day, week, month or all time, each alone, with the key and with the project, and by run. */
  readonly used: ReadonlyMap<string, bigint>;
  /** The fixed budgets, by organization and run. */
  readonly runs: ReadonlyMap<string, bigint>;
  readonly claims: ReadonlyMap<string, Claim>;
  readonly announced: ReadonlyMap<string, { readonly cost: bigint; readonly charged: bigint }>;
}

export interface Account {
  readonly credited: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly charged: bigint;
}

interface Hold {
  readonly organization: string;
  readonly key: string;
  readonly project: string | undefined;
  readonly state: 'held' | 'voided' | 'settled' | 'abandoned';
  readonly amount: bigint;
  readonly prices: Prices;
  readonly day: string;
  readonly deadline: number;
  readonly scope: string | undefined;
  readonly run: string | undefined;
  /** Since 1970. */
  readonly hour: number;
  /** The owners of windows that it counts against; empty for the organization. */
  readonly windowOwners: readonly string[];
}

export const EMPTY_MODEL: ModelState = {
  accounts: new Map(),
  credits: new Map(),
  holds: new Map(),
  used: new Map(),
  runs: new Map(),
  claims: new Map(),
  announced: new Map(),
};

export const NO_ACCOUNT: Account = { credited: 0n, available: 0n, held: 0n, charged: 0n };

/** Requests holds of other organizations. */
export const OTHER_ORGANIZATION = 'org-otherOrganization';

/** The context of an operation. */
export interface Setting {
  readonly generations: readonly Generation[];
  readonly now: number;
}

export interface Applied {
  readonly state: ModelState;
  /** As text, for comparison with the ledger's result. */
  readonly outcome: string;
}

type Draft = {
  [Part in keyof ModelState]: ModelState[Part] extends ReadonlyMap<string, infer Value>
    ? Map<string, Value>
    : never;
};

export function applyToModel(state: ModelState, operation: Operation, setting: Setting): Applied {
  const draft: Draft = {
    accounts: new Map(state.accounts),
    credits: new Map(state.credits),
    holds: new Map(state.holds),
    used: new Map(state.used),
    runs: new Map(state.runs),
    claims: new Map(state.claims),
    announced: new Map(state.announced),
  };
  return { outcome: outcomeOf(draft, operation, setting), state: draft };
}

function outcomeOf(draft: Draft, operation: Operation, { generations, now }: Setting): string {
  const named = (indexes: readonly number[]) => indexes.map((index) => generations[index] as Generation);
  switch (operation.kind) {
    case 'credit':
      return credit(draft, operation.id, operation.organization, BigInt(operation.amount));
    case 'hold': {
      const batch = named(operation.generations).map((one) =>
        operation.otherOrganization ? { ...one, organization: OTHER_ORGANIZATION } : one,
      );
      return batch.map((one) => hold(draft, one, batch, now)).join(', ');
    }
    case 'extend': {
      const batch = named(operation.generations);
      return batch.map((one) => extend(draft, one, batch, operation.by, now)).join(', ');
    }
    case 'void':
      return String(named(operation.generations).filter((one) => voidHold(draft, one)).length);
    case 'reap':
      return String(reap(draft, now, operation.limit));
    case 'settle':
      return named(operation.generations)
        .map((one) => settle(draft, one, now))
        .sort()
        .join(', ');
    case 'claim':
      return claim(draft.claims, generations[operation.generation] as Generation, now);
    case 'renew':
      for (const one of named(operation.generations)) {
        changeOwnClaim(draft.claims, one, (of) => ({
          ...of,
          leaseEnds: Math.max(of.leaseEnds, now + LEASE_MS),
        }));
      }
      return 'done';
    case 'release':
      for (const one of named(operation.generations))
        releaseClaim(draft.claims, one, draft.holds.has(one.id));
      return 'done';
    case 'delete_expired':
      return String(deleteExpired(draft.claims, now));
  }
}

function move(draft: Draft, organization: string, change: Partial<Account>): void {
  const account = draft.accounts.get(organization) ?? NO_ACCOUNT;
  draft.accounts.set(organization, {
    credited: account.credited + (change.credited ?? 0n),
    available: account.available + (change.available ?? 0n),
    held: account.held + (change.held ?? 0n),
    charged: account.charged + (change.charged ?? 0n),
  });
}

function availableOf(draft: Draft, organization: string): bigint {
  return draft.accounts.get(organization)?.available ?? 0n;
}

function use(
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

function credit(draft: Draft, id: string, organization: string, amount: bigint): string {
  const known = draft.credits.get(id);
  if (known) return known.organization === organization && known.amount === amount ? 'added' : 'conflict';
  draft.credits.set(id, { organization, amount });
  move(draft, organization, { credited: amount, available: amount });
  return 'added';
}

function hold(draft: Draft, one: Generation, batch: readonly Generation[], now: number): string {
  const { organization } = one;
  const known = draft.holds.get(one.id);
  if (known && known.organization !== organization) return 'foreign';
  if (known) return known.state === 'held' ? 'held' : 'closed';
  const amount = BigInt(one.amount);
  const run = one.run?.id;
  const runName = `${organization} ${run}`;
  const runBudget = draft.runs.get(runName) ?? one.run?.budget;
  if (one.run && runBudget === undefined) return 'unknown_run';
  const day = dayOf(now);
  const hour = hourOf(now);
  const refusal = refusalOf(draft, one, batch, { organization, day, hour, run, runBudget, amount });
  if (refusal !== undefined) return refusal;
  const { key, holdPrices: prices, scope } = one;
  const project = one.project?.id;
  const deadline = now + one.lifetimeMs;
  const windowOwners = [...new Set(windowsOf(one, batch).map(({ owner }) => owner))];
  const held = {
    ...{ organization, key, project, amount, prices, day, hour, windowOwners, deadline, scope, run },
  };
  draft.holds.set(one.id, { ...held, state: 'held' });
  if (one.run) draft.runs.set(runName, BigInt(runBudget ?? 0));
  move(draft, organization, { available: -amount, held: amount });
  use(draft, held, amount);
  return 'held';
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
function windowsOf(one: Generation, batch: readonly Generation[]): Window[] {
  const ownerOf = ({ key, project }: Generation) => ({ key, project: project?.id, organization: '' });
  return batch.flatMap((each) => {
    if (!each.window || each.organization !== one.organization) return [];
    const { owner: kind, ...budget } = each.window;
    const owner = ownerOf(each)[kind];
    return owner !== undefined && owner === ownerOf(one)[kind] ? [{ kind, owner, ...budget }] : [];
  });
}

/** Why an amount cannot be held in addition; undefined if it can. The budgets of a batch apply to all its holds. */
function refusalOf(
  draft: Draft,
  one: Generation,
  batch: readonly Generation[],
  { organization, day, hour, run, runBudget, amount }: Wanted,
): string | undefined {
  const heldBy = (matches: (hold: Hold) => boolean): bigint =>
    [...draft.holds.values()]
      .filter((each) => each.state === 'held' && each.organization === organization && matches(each))
      .reduce((sum, each) => sum + each.amount, 0n);
  const available = availableOf(draft, organization);
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

function extend(
  draft: Draft,
  one: Generation,
  batch: readonly Generation[],
  by: number,
  now: number,
): string {
  const known = draft.holds.get(one.id);
  if (known?.state !== 'held') return 'closed';
  if (known.organization !== one.organization) return 'foreign';
  const extra = BigInt(one.amount + by) - known.amount;
  if (extra <= 0n) return 'held';
  const { organization, day, run } = known;
  const runBudget = draft.runs.get(`${organization} ${run}`);
  const refusal = refusalOf(draft, one, batch, {
    ...{ organization, day, hour: hourOf(now), run, runBudget },
    amount: extra,
  });
  if (refusal !== undefined) return refusal;
  draft.holds.set(one.id, { ...known, amount: known.amount + extra });
  move(draft, organization, { available: -extra, held: extra });
  use(draft, known, extra);
  return 'held';
}

/** Returns whether the hold was open. */
function voidHold(draft: Draft, { id, organization }: Pick<Generation, 'id' | 'organization'>): boolean {
  const known = draft.holds.get(id);
  if (!known) {
    const nothing = {
      key: '',
      project: undefined,
      amount: 0n,
      prices: NO_PRICES,
      day: '',
      deadline: 0,
      scope: undefined,
      run: undefined,
      hour: 0,
      windowOwners: [],
    };
    draft.holds.set(id, { organization, state: 'abandoned', ...nothing });
    move(draft, organization, {});
    return false;
  }
  if (known.organization !== organization || known.state !== 'held') return false;
  draft.holds.set(id, { ...known, state: 'voided' });
  move(draft, organization, { available: known.amount, held: -known.amount });
  use(draft, known, -known.amount);
  return true;
}

function reap(draft: Draft, now: number, limit: number): number {
  const overdue = [...draft.holds]
    .filter(([, { state, deadline }]) => state === 'held' && deadline < now)
    .sort(([, one], [, other]) => one.deadline - other.deadline)
    .slice(0, limit);
  for (const [id, { organization }] of overdue) voidHold(draft, { id, organization });
  return overdue.length;
}

function settle(draft: Draft, one: Generation, now: number): string {
  const { id, organization } = one;
  const known = draft.holds.get(id);
  if (known && known.organization !== organization) return `${id} rejected`;
  if (known?.state === 'settled') return 'duplicate';
  const prices = known?.prices ?? one.eventPrices;
  if (known?.state === 'abandoned' || !prices) return `${id} rejected`;
  const cost = costOf(one.usage, prices);
  const isWaived = settleClaim(draft.claims, one, one.ending === undefined ? known?.scope : one.scope, now);
  const released = known?.state === 'held' ? known.amount : 0n;
  const reachable = availableOf(draft, organization) + released;
  const owed = isWaived ? 0n : cost;
  const charged = owed < reachable ? owed : reachable;
  const day = known?.day ?? dayOf(one.createdUnixMs);
  const key = known?.key ?? one.key;
  const project = known ? known.project : one.project?.id;
  move(draft, organization, { available: released - charged, held: -released, charged });
  use(draft, { organization, day, key, project, run: known?.run }, charged - released);
  const nothing = {
    ...{ amount: 0n, deadline: 0, scope: undefined, run: undefined, hour: 0 },
    windowOwners: [],
  };
  draft.holds.set(id, { ...(known ?? nothing), organization, key, project, prices, day, state: 'settled' });
  draft.announced.set(id, { cost, charged });
  const origin = !known ? 'no_hold' : known.state === 'held' ? 'held' : 'late';
  return `${id} ${origin} cost ${cost} charged ${charged}${isWaived ? ' waived' : ''}`;
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

function hourOf(unixMs: number): number {
  return Math.floor(unixMs / 3_600_000);
}

function dayOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}
