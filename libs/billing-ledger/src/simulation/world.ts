import type { UnixMs } from '@gateway/base';
import type { SeededRandom } from '@gateway/testing';
import { Client } from 'pg';
import type { HoldRequest } from '../core/credit/hold';
import { LedgerUnavailableError } from '../core/ports';
import type { FinishedGeneration } from '../core/settlement/settlement';
import {
  announce,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerInstance,
  type LedgerRig,
} from '../testing/ledger-rig';
import { cut } from './faulty-connections';

const ORGANIZATIONS = ['org-a', 'org-b', 'org-c', 'org-d'];
const KEYS = ['key-1', 'key-2'];
/** A few keys at a time, each used for a while and by several requests. */
const SCOPES = 2;
const IDS_PER_SCOPE = 60;
const LEASE_MS = 5_000;
const HOLD_LIFETIME_MS = 60_000;
const MAX_REPEATS = 50;
const BODY = Buffer.alloc(32, 7);

/**
 * Callers of the ledger who do everything at once, repeat themselves, come
 * late, and lose their connections. What they were told is remembered and must
 * agree with the books.
 */
export function createWorld(rig: LedgerRig, random: SeededRandom, seed: number) {
  const holds = new Map<string, HoldRequest>();
  const finished = new Map<string, FinishedGeneration>();
  const answered = new Set<string>();
  const credits = new Map<string, { organizationId: string; amount: number }>();
  let counter = 0;

  const name = (kind: string) => `${kind}-${seed}-${(counter += 1)}`;
  const ledger = (): LedgerInstance => random.pick([rig.first, rig.second]);
  const someOf = <Item>(items: Iterable<Item>, atMost: number): Item[] =>
    random.shuffle([...items]).slice(0, random.integer(1, atMost));

  /** As callers do: until there is an answer. */
  async function insist<Result>(work: () => Promise<Result>): Promise<Result> {
    for (let repeat = 1; ; repeat += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof LedgerUnavailableError) || repeat >= MAX_REPEATS) throw error;
      }
    }
  }

  async function topUp(): Promise<void> {
    const repeated = credits.size > 0 && random.chance(0.3);
    const creditId = repeated ? random.pick([...credits.keys()]) : name('credit');
    const credit = credits.get(creditId) ?? {
      organizationId: random.pick(ORGANIZATIONS),
      amount: random.integer(1, 200),
    };
    credits.set(creditId, credit);
    const { organizationId, amount } = credit;
    const added = { creditId, organizationId, amountNanoUsd: usdNano(amount), note: 'simulation' };
    expect(await insist(() => ledger().store.addCredit(added))).toBe('added');
  }

  function newHold(scope?: string, generationId = name('gen')): HoldRequest {
    const at = rig.clock.now();
    const budget = () => (random.chance(0.2) ? usdNano(random.integer(0, 600)) : undefined);
    return makeHold({
      holdId: generationId,
      organizationId: random.pick(ORGANIZATIONS),
      keyId: random.pick(KEYS),
      amount: random.integer(0, 40),
      at,
      deadlineUnixMs: (at + random.integer(1, HOLD_LIFETIME_MS)) as UnixMs,
      organizationDailyBudgetNanoUsd: budget(),
      keyDailyBudgetNanoUsd: budget(),
      idempotencyScope: scope,
    });
  }

  async function hold(wanted: HoldRequest[]): Promise<void> {
    const outcomes = await insist(() => ledger().store.holdCredit(wanted));
    const closed: string[] = [];
    wanted.forEach((one, index) => {
      const kind = outcomes[index]?.kind;
      if (kind === 'held') holds.set(one.holdId, one);
      else if (kind === 'closed') closed.push(one.holdId);
      else expect(holds.has(one.holdId)).toBe(false);
    });
    // What is closed never opens again, so this holds whenever it is looked at.
    const { rows } = await rig.auditPool.query<{ state: string }>(
      'select state from billing_ledger.holds where hold_id = any ($1)',
      [closed],
    );
    expect(rows).toHaveLength(closed.length);
    for (const { state } of rows) expect(['settled', 'voided', 'given_up']).toContain(state);
  }

  const holdNew = () => hold(Array.from({ length: random.integer(1, 6) }, () => newHold()));
  const holdAgain = async () => hold(someOf(holds.values(), 4));

  async function runUnderKey(): Promise<void> {
    const scope = `scope-${seed}-${Math.floor(counter / IDS_PER_SCOPE)}-${random.integer(1, SCOPES)}`;
    if (random.chance(0.5)) rig.clock.advance(random.integer(0, LEASE_MS));
    const request = { ...newHold(scope), organizationId: ORGANIZATIONS[0] ?? '' };
    const claim = {
      scope,
      organizationId: request.organizationId,
      bodySha256: BODY,
      generationId: request.holdId,
      leaseEndsUnixMs: (rig.clock.now() + LEASE_MS) as UnixMs,
    };
    const { claims } = ledger();
    const { kind } = await insist(() => claims.claimIdempotencyKey(claim));
    if (kind !== 'claimed') return;
    await hold([request]);
    if (!holds.has(request.holdId)) await insist(() => claims.releaseClaims([claim]));
    else if (random.chance(0.3)) await insist(() => claims.renewClaims([claim], LEASE_MS));
  }

  function finish(held: HoldRequest): FinishedGeneration {
    const responseJson = random.chance(0.7) ? Buffer.from(held.holdId) : undefined;
    const generation = makeFinished({
      generationId: held.holdId,
      organizationId: held.organizationId,
      keyId: held.keyId,
      cost: random.integer(0, 60),
      at: held.createdUnixMs,
      idempotentOutcome: held.idempotencyScope
        ? {
            scope: held.idempotencyScope,
            ending: responseJson ? 'answered' : random.pick(['failed', 'cancelled']),
            responseJson,
          }
        : undefined,
    });
    finished.set(held.holdId, generation);
    if (generation.idempotentOutcome?.responseJson) answered.add(held.holdId);
    return generation;
  }

  /** Open, voided and settled ones alike, and now and then one that was never held. */
  async function settle(): Promise<void> {
    const batch = someOf(holds.values(), 8)
      // Requests under a key take longer, so that others try the key meanwhile.
      .filter(({ idempotencyScope }) => !idempotencyScope || random.chance(0.3))
      .map((held) => finished.get(held.holdId) ?? finish(held));
    if (random.chance(0.1)) batch.push(finish(newHold()));
    if (batch.length > 0 && random.chance(0.2)) batch.push(random.pick(batch));
    const { rejected } = await insist(() => ledger().store.settleGenerations(batch, announce));
    expect(rejected).toEqual([]);
  }

  async function giveBack(): Promise<void> {
    const refs = someOf(holds.values(), 4).filter(
      ({ holdId }) => !finished.has(holdId) || random.chance(0.2),
    );
    await insist(() => ledger().store.voidHolds(refs));
  }

  async function reap(): Promise<void> {
    rig.clock.advance(random.integer(0, HOLD_LIFETIME_MS / 4));
    await insist(() => ledger().store.voidOverdueHolds(random.integer(1, 5)));
    await insist(() => ledger().claims.trimClaims(5));
  }

  /** A process dies in the middle of a transaction that holds locks. */
  async function dieMidTransaction(): Promise<void> {
    const client = new Client({
      connectionString: rig.database.url,
      options: '-c search_path=billing_ledger',
    });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('begin');
    const [victim] = someOf(holds.values(), 1);
    const organizationId = victim?.organizationId ?? 'org-a';
    if (random.chance(0.5) && victim) {
      await client.query('select void_holds($1, $2, 1)', [[victim.holdId], [organizationId]]);
    } else {
      await client.query('select add_credit($1, $2, 1000000, $3, 1)', [
        name('credit'),
        organizationId,
        'never',
      ]);
    }
    cut(client);
  }

  async function killBackend(): Promise<void> {
    const client = new Client({ connectionString: rig.database.url });
    await client.connect();
    await client.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'ledger-%' order by random() limit 2`);
    await client.end();
  }

  const operations = [
    ...[topUp, holdNew, holdNew, holdAgain, runUnderKey, runUnderKey, runUnderKey],
    ...[settle, settle, settle, giveBack, reap, dieMidTransaction, killBackend],
  ];

  /** Several operations at once. */
  async function step(): Promise<void> {
    await Promise.all(Array.from({ length: random.integer(3, 7) }, () => random.pick(operations)()));
  }

  /** Brings every hold to its end. */
  async function drain(): Promise<void> {
    const open = [...finished.values()];
    if (open.length > 0) await insist(() => rig.first.store.settleGenerations(open, announce));
    rig.clock.advance(HOLD_LIFETIME_MS + 1);
    while ((await insist(() => rig.second.store.voidOverdueHolds(100))) > 0);
  }

  return { step, drain, holds, finished, answered, credits };
}
