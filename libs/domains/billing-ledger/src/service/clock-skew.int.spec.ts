import { MINUTE_MS, type UnixMs } from '@gateway/base';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { applyMigrations, createPool } from '@gateway/database';
import type { GatewayModule } from '@gateway/module';
import type { RpcHandlers } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId } from '@gateway/runtime';
import { auditLedger } from '@gateway/ledger-audit';
import { createTestDatabase, eventually, TEST_OPERATOR, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { createBillingLedgerAdapters } from '../adapters/create-adapters';
import { BILLING_LEDGER_SCHEMA, billingLedgerSchema } from '../adapters/postgres/sql/schema';
import { silentAppender, UNIT_PRICES } from '../testing/ledger-fixture';
import { createBillingLedgerModule } from './module';

/** Ledgers on hosts whose clocks differ from the database's. */
const SKEWS_MS = [-5 * MINUTE_MS, 0, 5 * MINUTE_MS];
const ROUNDS = 16;
const LEASE_MS = MINUTE_MS;
const context = { signal: new AbortController().signal, metadata: {} };

type Handlers = RpcHandlers<BillingLedgerDefinition>;

let database: TestDatabase;
let pools: Pool[];
let modules: GatewayModule[];
let ledgers: Handlers[];

beforeAll(async () => {
  database = await createTestDatabase();
  pools = SKEWS_MS.map(() =>
    createPool({
      url: database.url,
      schema: BILLING_LEDGER_SCHEMA,
      applicationName: 'test',
      maxConnections: 4,
    }),
  );
  await applyMigrations(pools[0] as Pool, billingLedgerSchema);
  modules = pools.map((pool, index) => {
    const clock = { now: () => (Date.now() + (SKEWS_MS[index] ?? 0)) as UnixMs };
    const settings = { closedHoldRetentionMs: 90 * 24 * 60 * MINUTE_MS };
    return createBillingLedgerModule({
      ...createBillingLedgerAdapters({ pool, appender: silentAppender, clock, settings }),
      clock,
      log: createSilentLogger(),
      metrics: createMetrics({ processMetrics: false }),
      maintenanceIntervalMs: 5,
    });
  });
  for (const module of modules) await module.start();
  ledgers = modules.map((module) => module.services[0]?.handlers as unknown as Handlers);
  await ledgers[0]?.addCredit(
    { creditId: 'credit-1', organizationId: 'org-1', amountNanoUsd: 1_000_000n, note: 'test' },
    { ...context, actor: TEST_OPERATOR },
  );
});

afterAll(async () => {
  await Promise.all(modules.map((module) => module.stop()));
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

const rounds = Array.from({ length: ROUNDS }, (_, index) => index);
const pairs = SKEWS_MS.flatMap((one, first) =>
  SKEWS_MS.map((other, second) => ({ what: `${one} ms and ${other} ms`, first, second })),
).filter(({ first, second }) => first !== second);

async function claim(ledger: number, scope: string): Promise<string | undefined> {
  const { outcome } = await (ledgers[ledger] as Handlers).claimIdempotencyKey(
    {
      scope,
      organizationId: 'org-1',
      bodySha256: Buffer.alloc(32, 1),
      generationId: newId('gen'),
      leaseMs: LEASE_MS,
    },
    context,
  );
  return outcome?.$case;
}

async function hold(ledger: number, lifetimeMs: number): Promise<string> {
  const holdId = newId('gen');
  const { results } = await (ledgers[ledger] as Handlers).holdCredit(
    {
      holds: [
        {
          holdId,
          organizationId: 'org-1',
          keyId: 'key-1',
          amountNanoUsd: 10n,
          prices: UNIT_PRICES,
          createdUnixMs: BigInt(Date.now() + (SKEWS_MS[ledger] ?? 0)),
          lifetimeMs,
          budgets: [],
        },
      ],
    },
    context,
  );
  expect(results[0]?.outcome?.$case).toBe('held');
  return holdId;
}

async function stateOf(holdId: string): Promise<string | undefined> {
  const { rows } = await (pools[0] as Pool).query<{ state: string }>(
    'select state from holds where hold_id = $1',
    [holdId],
  );
  return rows[0]?.state;
}

describe.each(pairs)('two ledgers whose clocks differ from the database by $what', ({ first, second }) => {
  it('never run one Idempotency-Key twice', async () => {
    const outcomes = await Promise.all(
      rounds.map(async (round) => {
        const scope = `key-${first}-${second}-${round}`;
        return [await claim(first, scope), await claim(second, scope)];
      }),
    );
    expect(outcomes).toEqual(rounds.map(() => ['claimed', 'inFlight']));
  });

  it('void expired holds, and no fresh ones', async () => {
    const fresh = await Promise.all(rounds.map(() => hold(first, 2 * MINUTE_MS)));
    const expired = await Promise.all(rounds.map(() => hold(first, 1)));
    await eventually(
      'the expired holds are voided',
      async () => (await Promise.all(expired.map(stateOf))).every((state) => state === 'voided') || undefined,
    );
    expect(await Promise.all(fresh.map(stateOf))).toEqual(rounds.map(() => 'held'));
    expect((await auditLedger(pools[0] as Pool)).faults).toEqual([]);
  });
});
