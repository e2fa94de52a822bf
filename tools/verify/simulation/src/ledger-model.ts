import { LEASE_MS, type Generation, type Operation } from './history';
import { changeOwnClaim, claim, deleteExpired, releaseClaim, settleClaim } from './model-claims';
import { countersOf, dayOf, hourOf, refusalOf, use } from './model-budgets';
import { costOf, NO_PRICES } from './model-cost';
import { NO_ACCOUNT, type Account, type Draft, type ModelState } from './model-state';

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
  const counters = countersOf(one);
  const held = {
    ...{ organization, key, project, amount, prices, day, hour, counters, deadline, scope, run },
  };
  draft.holds.set(one.id, { ...held, state: 'held' });
  if (one.run) draft.runs.set(runName, BigInt(runBudget ?? 0));
  move(draft, organization, { available: -amount, held: amount });
  use(draft, held, amount);
  return 'held';
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
      counters: [],
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
    counters: [],
  };
  draft.holds.set(id, { ...(known ?? nothing), organization, key, project, prices, day, state: 'settled' });
  draft.announced.set(id, { cost, charged });
  const origin = !known ? 'no_hold' : known.state === 'held' ? 'held' : 'late';
  return `${id} ${origin} cost ${cost} charged ${charged}${isWaived ? ' waived' : ''}`;
}
