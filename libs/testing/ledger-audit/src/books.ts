/**
 * The auditor's own books: computed from postings and holds, then compared with
 * the ledger's accounts, budget accounts and runs. Shares no code with the ledger, so that
 * one mistake cannot be in both.
 */

interface PostingEntry {
  readonly reference: string;
  readonly kind: string;
  readonly organization: string;
  readonly credit: bigint;
  readonly held: bigint;
  readonly revenue: bigint;
  readonly uncollected: bigint;
  readonly funding: bigint;
}

interface HoldEntry {
  readonly id: string;
  readonly organization: string;
  readonly key: string;
  readonly state: string;
  readonly day: string;
  readonly run: string | undefined;
  readonly project: string | undefined;
  /** The UTC hour of admission, if it counts in counters, and these. */
  readonly countedHour: string | undefined;
  readonly counters: readonly string[];
  readonly amount: bigint;
  readonly cost: bigint | undefined;
  readonly charged: bigint | undefined;
}

interface AccountEntry {
  readonly organization: string;
  readonly credited: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly charged: bigint;
  readonly uncollected: bigint;
}

interface SpendEntry {
  readonly organization: string;
  /** 'infinity' for all days. */
  readonly day: string;
  /** A key or a project; empty for the organization. */
  readonly owner: string;
  readonly spent: bigint;
  readonly held: bigint;
}

interface BudgetHourEntry {
  readonly organization: string;
  /** One that starts with an asterisk counts all time. */
  readonly counter: string;
  /** 'infinity' for what is held, '-infinity' for all time. */
  readonly hour: string;
  readonly spent: bigint;
  readonly held: bigint;
}

interface RunEntry {
  readonly organization: string;
  readonly run: string;
  readonly createdUnixMs: number;
  readonly budget: bigint;
  readonly spent: bigint;
  readonly held: bigint;
}

interface CreditEntry {
  readonly id: string;
  readonly organization: string;
  readonly amount: bigint;
}

interface CompletedClaimEntry {
  readonly scope: string;
  readonly generation: string;
  readonly organization: string;
}

export interface Books {
  posting(entry: PostingEntry): void;
  /** Closed holds of generations with smaller ids may be deleted. */
  retainedFrom(holdId: string, nowUnixMs: number): void;
  hold(entry: HoldEntry): void;
  account(entry: AccountEntry): void;
  spend(entry: SpendEntry): void;
  budgetHour(entry: BudgetHourEntry): void;
  run(entry: RunEntry): void;
  credit(entry: CreditEntry): void;
  completedClaim(entry: CompletedClaimEntry): void;
  close(): {
    faults: string[];
    accounts: number;
    totals: { credited: bigint; charged: bigint; uncollected: bigint };
  };
}

interface Sums {
  credit: bigint;
  held: bigint;
  revenue: bigint;
  uncollected: bigint;
  funding: bigint;
}

export function createBooks(): Books {
  const faults: string[] = [];
  const sums = new Map<string, Sums>();
  const postings = new Map<string, Map<string, PostingEntry>>();
  const holds = new Map<string, HoldEntry>();
  const accounts = new Map<string, AccountEntry>();
  const spend = new Map<string, SpendEntry>();
  const ownerTotals = new Map<string, SpendEntry>();
  const budgetHours = new Map<string, BudgetHourEntry>();
  const runs = new Map<string, RunEntry>();
  const credits = new Map<string, CreditEntry>();
  const claims: CompletedClaimEntry[] = [];
  let oldestRetained: string | undefined;
  let nowUnixMs = 0;

  function posting(entry: PostingEntry): void {
    const { reference, kind, organization } = entry;
    if (entry.credit + entry.held + entry.revenue + entry.uncollected + entry.funding !== 0n) {
      faults.push(`posting ${kind} of ${reference} does not add up to zero`);
    }
    const extended = kind === 'extension' ? EXTENSION.exec(reference) : undefined;
    if (extended === null) faults.push(`extension ${reference} names no hold and amount`);
    const owner = extended?.[1] ?? reference;
    const name = extended ? reference : kind;
    const ofOwner = postings.get(owner) ?? new Map<string, PostingEntry>();
    if (ofOwner.has(name)) faults.push(`${owner} has two postings of kind ${name}`);
    postings.set(owner, ofOwner.set(name, entry));
    const total = sums.get(organization) ?? {
      credit: 0n,
      held: 0n,
      revenue: 0n,
      uncollected: 0n,
      funding: 0n,
    };
    total.credit += entry.credit;
    total.held += entry.held;
    total.revenue += entry.revenue;
    total.uncollected += entry.uncollected;
    total.funding += entry.funding;
    sums.set(organization, total);
  }

  function expect(what: string, found: bigint, wanted: bigint): void {
    if (found !== wanted) faults.push(`${what} is ${found}, by its postings ${wanted}`);
  }

  function checkAccounts(): void {
    for (const organization of sums.keys()) {
      if (!accounts.has(organization)) faults.push(`${organization} has postings and no account`);
    }
    for (const account of accounts.values()) {
      const name = account.organization;
      const total = sums.get(name) ?? { credit: 0n, held: 0n, revenue: 0n, uncollected: 0n, funding: 0n };
      expect(`credited of ${name}`, account.credited, -total.funding);
      expect(`available of ${name}`, account.available, total.credit);
      expect(`held of ${name}`, account.held, total.held);
      // What is owed for settled generations, less the uncollected part.
      expect(`charged of ${name}`, account.charged, total.revenue + total.uncollected);
      expect(`uncollected of ${name}`, account.uncollected, -total.uncollected);
      if (account.available < 0n) faults.push(`available of ${name} is below zero`);
      if (account.held < 0n) faults.push(`held of ${name} is below zero`);
    }
  }

  function hold(entry: HoldEntry): void {
    if (holds.has(entry.id)) faults.push(`${entry.id} is both open and closed`);
    holds.set(entry.id, entry);
  }

  /** Each extension raises the hold to the amount in its reference. */
  function checkExtensions({ id, amount }: HoldEntry, own: ReadonlyMap<string, PostingEntry>): void {
    const extensions = [...own.values()]
      .filter(({ kind }) => kind === 'extension')
      .map(({ reference, held }) => ({ to: BigInt(EXTENSION.exec(reference)?.[2] ?? 0), held }))
      .sort((one, other) => (one.to < other.to ? -1 : 1));
    let reached = own.get('hold')?.held ?? 0n;
    for (const { to, held } of extensions) {
      reached += held;
      if (reached !== to) faults.push(`${id} was extended to ${to} and its postings to ${reached}`);
    }
    if (extensions.length > 0 && reached !== amount)
      faults.push(`${id} has the amount ${amount} and was extended to ${reached}`);
  }

  function isExpired(reference: string): boolean {
    return oldestRetained !== undefined && reference.startsWith('gen-') && reference < oldestRetained;
  }

  /** Each hold has exactly the postings of its state. */
  function checkHolds(): void {
    const open = new Map<string, bigint>();
    const charged = new Map<string, bigint>();
    for (const hold of holds.values()) {
      const { id, organization, state } = hold;
      const own = postings.get(id) ?? new Map<string, PostingEntry>();
      for (const entry of own.values()) {
        if (entry.organization !== organization) faults.push(`${id} has postings of another organization`);
      }
      const held = [...own.values()].reduce((total, entry) => total + entry.held, 0n);
      if (held !== (state === 'held' ? hold.amount : 0n))
        faults.push(`${id} is ${state} and its postings hold ${held}`);
      checkExtensions(hold, own);
      if (state === 'held') open.set(organization, (open.get(organization) ?? 0n) + hold.amount);
      const settlement = own.get('settlement');
      if ((state === 'settled') !== (settlement !== undefined)) {
        faults.push(`${id} is ${state} ${settlement ? 'with' : 'without'} a settlement`);
      }
      if (state === 'abandoned' && own.size > 0) faults.push(`${id} was abandoned and has postings`);
      if (state === 'voided' && !own.has('void')) faults.push(`${id} is voided without a posting`);
      if (settlement) {
        const paid = settlement.revenue + settlement.uncollected;
        charged.set(organization, (charged.get(organization) ?? 0n) + paid);
        if (paid !== hold.charged) {
          faults.push(`${id} has the charge ${hold.charged}, in its posting ${paid}`);
        }
        if (settlement.revenue !== hold.cost && settlement.revenue !== 0n) {
          faults.push(`${id} has the cost ${hold.cost}, in its posting ${settlement.revenue}`);
        }
        if (paid < 0n) faults.push(`${id} has a negative charge`);
      }
    }
    for (const [reference, own] of postings) {
      const settlement = own.get('settlement');
      if (!settlement || holds.has(reference)) continue;
      const { organization, revenue, uncollected } = settlement;
      charged.set(organization, (charged.get(organization) ?? 0n) + revenue + uncollected);
    }
    for (const account of accounts.values()) {
      const name = account.organization;
      if (account.held !== (open.get(name) ?? 0n))
        faults.push(`held of ${name} is not the sum of its open holds`);
      if (account.charged !== (charged.get(name) ?? 0n)) {
        faults.push(`charged of ${name} is not the sum of its settlements`);
      }
    }
    for (const [reference, own] of postings) {
      if (!own.has('credit') && !holds.has(reference)) checkExpired(reference, own);
      const credit = own.get('credit');
      if (credit && credits.get(reference)?.amount !== credit.credit) {
        faults.push(`the posting of credit ${reference} is not the credit's amount`);
      }
    }
    for (const { id, organization } of credits.values()) {
      if (postings.get(id)?.get('credit')?.organization !== organization) {
        faults.push(`credit ${id} was not posted to ${organization}`);
      }
    }
  }

  /** The postings of a deleted hold must show that it was closed. */
  function checkExpired(reference: string, own: ReadonlyMap<string, PostingEntry>): void {
    if (!isExpired(reference)) {
      faults.push(`${reference} has postings and no hold`);
      return;
    }
    const held = [...own.values()].reduce((total, entry) => total + entry.held, 0n);
    if (held !== 0n) faults.push(`${reference} is deleted and its postings hold ${held}`);
    if (!own.has('settlement') && !own.has('void'))
      faults.push(`${reference} is deleted and was never closed`);
    const organizations = new Set([...own.values()].map(({ organization }) => organization));
    if (organizations.size > 1) faults.push(`${reference} has postings of another organization`);
  }

  /** A day's totals: charged and held amounts of the generations admitted on it. */
  function checkDailySpend(): void {
    const wanted = new Map<string, { spent: bigint; held: bigint }>();
    for (const hold of holds.values()) {
      for (const owner of ['', hold.key, ...(hold.project === undefined ? [] : [hold.project])]) {
        const name = spendName(hold.organization, hold.day, owner);
        const total = wanted.get(name) ?? { spent: 0n, held: 0n };
        total.spent += hold.charged ?? 0n;
        if (hold.state === 'held') total.held += hold.amount;
        wanted.set(name, total);
      }
    }
    for (const [name, total] of wanted) {
      const found = spend.get(name);
      const spent = found?.spent ?? 0n;
      const isComplete = !found || !mayLackHolds(found.day);
      if (isComplete ? spent !== total.spent : spent < total.spent) {
        faults.push(`spent on ${name} is not the sum of its charges`);
      }
      if ((found?.held ?? 0n) !== total.held) faults.push(`held on ${name} is not the sum of its holds`);
    }
    for (const [name, { day }] of spend) {
      if (!wanted.has(name) && !mayLackHolds(day)) faults.push(`daily totals of ${name} belong to no hold`);
    }
    checkSpendSums();
  }

  /** Independent of deleted holds: the days sum to the account's charges, and a day is the sum of its keys. */
  function checkSpendSums(): void {
    const ofOrganizations = new Map<string, bigint>();
    const ofKeys = new Map<string, bigint>();
    for (const { organization, day, owner, spent } of spend.values()) {
      if (isProject(owner)) continue;
      if (owner === '') ofOrganizations.set(organization, (ofOrganizations.get(organization) ?? 0n) + spent);
      const name = spendName(organization, day, '');
      ofKeys.set(name, (ofKeys.get(name) ?? 0n) + (owner === '' ? -spent : spent));
    }
    for (const { organization, charged } of accounts.values()) {
      if ((ofOrganizations.get(organization) ?? 0n) !== charged) {
        faults.push(`the days of ${organization} do not sum to its charges`);
      }
    }
    for (const [name, difference] of ofKeys) {
      if (difference !== 0n) faults.push(`spent on ${name} is not the sum of its keys`);
    }
  }

  /** Independent of deleted holds: the total of a key or a project is the sum of its days. */
  function checkOwnerTotals(): void {
    const ofOwners = new Map<string, { spent: bigint; held: bigint }>();
    for (const { organization, owner, spent, held } of spend.values()) {
      if (owner === '') continue;
      const name = spendName(organization, ALL_DAYS, owner);
      const total = ofOwners.get(name) ?? { spent: 0n, held: 0n };
      ofOwners.set(name, { spent: total.spent + spent, held: total.held + held });
    }
    for (const name of new Set([...ofOwners.keys(), ...ownerTotals.keys()])) {
      const days = ofOwners.get(name) ?? { spent: 0n, held: 0n };
      const total = ownerTotals.get(name) ?? { spent: 0n, held: 0n };
      if (total.spent !== days.spent) faults.push(`spent on ${name} is not the sum of its days`);
      if (total.held !== days.held) faults.push(`held on ${name} is not the sum of its days`);
    }
  }

  /** An hour's charges are those of the generations admitted in it, and the held row has the open holds. */
  function checkBudgetHours(): void {
    const wanted = new Map<string, BudgetHourEntry>();
    const add = (entry: BudgetHourEntry) => {
      const name = spendName(entry.organization, entry.hour, entry.counter);
      const { spent, held } = wanted.get(name) ?? { spent: 0n, held: 0n };
      wanted.set(name, { ...entry, spent: spent + entry.spent, held: held + entry.held });
    };
    for (const { organization, countedHour, counters, state, amount, charged = 0n } of holds.values()) {
      if ((countedHour === undefined) !== (counters.length === 0)) {
        faults.push(`a hold of ${organization} has counters or an hour, and not both`);
      }
      for (const counter of counters) {
        const hour = counter.startsWith('*') ? ALL_TIME : (countedHour ?? '');
        add({ organization, counter, hour, spent: charged, held: 0n });
        add({ organization, counter, hour: ALL_DAYS, spent: 0n, held: state === 'held' ? amount : 0n });
      }
    }
    for (const name of new Set([...wanted.keys(), ...budgetHours.keys()])) {
      const [found, total] = [budgetHours.get(name), wanted.get(name)];
      const [spent, held] = [found?.spent ?? 0n, found?.held ?? 0n];
      const hour = (found ?? total)?.hour ?? '';
      const isHour = hour !== ALL_DAYS && hour !== ALL_TIME;
      // No period reaches deleted hours. A late settlement may have restored one in part.
      const mayBeDeleted = isHour && Date.parse(`${hour}Z`) < nowUnixMs - MAX_WINDOW_MS;
      // Deleted holds count in all time.
      const mayLack = hour === ALL_TIME ? mayLackHolds('') : isHour && mayLackHolds(hour.slice(0, 10));
      const isRight =
        (mayBeDeleted && spent <= (total?.spent ?? 0n)) ||
        (mayLack ? spent >= (total?.spent ?? 0n) : spent === (total?.spent ?? 0n));
      if (!isRight) faults.push(`spent in the counter ${name} is not the sum of its charges`);
      if (held !== (total?.held ?? 0n))
        faults.push(`held in the counter ${name} is not the sum of its holds`);
    }
  }

  /** A run's held and charged amounts are those of its holds. Above its budget is only what charges exceed their holds by. */
  function checkRuns(): void {
    const wanted = new Map<string, { spent: bigint; held: bigint; unreserved: bigint }>();
    for (const hold of holds.values()) {
      if (hold.run === undefined) continue;
      const name = runName(hold.organization, hold.run);
      const total = wanted.get(name) ?? { spent: 0n, held: 0n, unreserved: 0n };
      const charged = hold.charged ?? 0n;
      total.spent += charged;
      const covered = postings.get(hold.id)?.has('void') ? 0n : hold.amount;
      if (charged > covered) total.unreserved += charged - covered;
      if (hold.state === 'held') total.held += hold.amount;
      wanted.set(name, total);
      if (!runs.has(name)) faults.push(`${hold.id} belongs to ${name}, which does not exist`);
    }
    for (const [name, { createdUnixMs, budget, spent, held }] of runs) {
      const total = wanted.get(name) ?? { spent: 0n, held: 0n, unreserved: 0n };
      const mayLack = oldestRetained !== undefined && createdUnixMs < unixMsOfId(oldestRetained);
      if (mayLack ? spent < total.spent : spent !== total.spent) {
        faults.push(`spent by ${name} is not the sum of its charges`);
      }
      if (held !== total.held) faults.push(`held by ${name} is not the sum of its holds`);
      if (!mayLack && spent + held > budget + total.unreserved)
        faults.push(`spent and held by ${name} is above its budget`);
    }
  }

  /** An id is created before its admission, which may be on the next day. */
  function mayLackHolds(day: string): boolean {
    return oldestRetained !== undefined && day <= dayOfId(oldestRetained);
  }

  /** A stored response belongs to a settled generation of the same organization. */
  function checkClaims(): void {
    for (const { scope, generation, organization } of claims) {
      const hold = holds.get(generation);
      const settled = hold ? hold.state === 'settled' && hold : postings.get(generation)?.get('settlement');
      if (!settled || settled.organization !== organization) {
        faults.push(`claim ${scope} is completed by ${generation}, which is not settled`);
      }
    }
  }

  return {
    posting,
    hold,
    retainedFrom: (holdId, now) => {
      oldestRetained = holdId;
      nowUnixMs = now;
    },
    account: (entry) => void accounts.set(entry.organization, entry),
    spend: (entry) => {
      if (entry.day === ALL_DAYS)
        ownerTotals.set(spendName(entry.organization, ALL_DAYS, entry.owner), entry);
      else spend.set(spendName(entry.organization, entry.day, entry.owner), entry);
    },
    budgetHour: (entry) =>
      void budgetHours.set(spendName(entry.organization, entry.hour, entry.counter), entry),
    run: (entry) => void runs.set(runName(entry.organization, entry.run), entry),
    credit: (entry) => void credits.set(entry.id, entry),
    completedClaim: (entry) => void claims.push(entry),
    close() {
      checkAccounts();
      checkHolds();
      checkDailySpend();
      checkOwnerTotals();
      checkBudgetHours();
      checkRuns();
      checkClaims();
      const all = [...sums.values()];
      return {
        faults,
        accounts: accounts.size,
        totals: {
          credited: all.reduce((total, entry) => total - entry.funding, 0n),
          charged: all.reduce((total, entry) => total + entry.revenue + entry.uncollected, 0n),
          uncollected: all.reduce((total, entry) => total - entry.uncollected, 0n),
        },
      };
    },
  };
}

/** The reference of an extension: the hold and its new amount. */
const EXTENSION = /^(.+)\+([0-9]+)$/;

const ALL_DAYS = 'infinity';
/** The hour of counters of all time. */
const ALL_TIME = '-infinity';

/** The longest window. */
const MAX_WINDOW_MS = 744 * 3_600_000;

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The UTC day from the ten time characters after "gen-". The smallest id, "gen-", has none and sorts before any day. */
function dayOfId(id: string): string {
  return id === 'gen-' ? '' : new Date(unixMsOfId(id)).toISOString().slice(0, 10);
}

function unixMsOfId(id: string): number {
  const digits = [...id.slice('gen-'.length, 'gen-'.length + 10)];
  return digits.reduce((value, digit) => value * 32 + CROCKFORD.indexOf(digit), 0);
}

function runName(organization: string, run: string): string {
  return `run ${run} of ${organization}`;
}

function spendName(organization: string, day: string, owner: string): string {
  return `${organization} ${day} ${owner || '(all keys)'}`;
}

/** By the format of ids. Holds that name the project may be deleted. */
function isProject(owner: string): boolean {
  return owner.startsWith('proj-');
}
