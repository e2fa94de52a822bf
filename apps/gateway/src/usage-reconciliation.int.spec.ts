import {
  BILLING_LEDGER_SCHEMA,
  billingLedgerSchema,
  createBillingLedgerModule,
  createPostgresClaimStore,
  createPostgresLedgerHistory,
  createPostgresLedgerStore,
} from '@gateway/billing-ledger';
import { HOUR_MS, MINUTE_MS } from '@gateway/base';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationFinished } from '@gateway/contracts/events';
import { applyMigrations, createPool } from '@gateway/database';
import {
  createPostgresEventLog,
  EVENT_LOG_SCHEMA,
  eventLogSchema,
  type PostgresEventLog,
} from '@gateway/events';
import type { GatewayModule } from '@gateway/module';
import { createClient } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, type Registry } from '@gateway/runtime';
import { createStatementsAdapters, createStatementsModule } from '@gateway/statements';
import {
  createDatabaseTestClock,
  createTestDatabase,
  eventually,
  inProcessFor,
  type DatabaseTestClock,
  type TestDatabase,
} from '@gateway/test-support';
import {
  createPostgresRefusalStore,
  createPostgresSettlementStore,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
  USAGE_SCHEMA,
  usageSchema,
} from '@gateway/usage';
import type { Pool } from 'pg';

const ORGANIZATIONS = ['org-a', 'org-b', 'org-c'];
const GENERATIONS = 30;
const PRICES = {
  inputNanoUsdPerMillion: 2_000_000n,
  cachedInputNanoUsdPerMillion: 3_000_000n,
  cacheWriteNanoUsdPerMillion: 11_000_000n,
  cacheWrite1hNanoUsdPerMillion: 13_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 5_000_000n,
  imageNanoUsdPerMillion: 7_000_000n,
  tiers: [],
};
const log = createSilentLogger();

let database: TestDatabase;
let pools: Record<'ledger' | 'usage' | 'events', Pool>;
let clock: DatabaseTestClock;
let metrics: Registry;
let eventLog: PostgresEventLog;
let modules: GatewayModule[];
let spent: number;

/** Ledger, event log and usage as in the gateway. */
beforeEach(async () => {
  database = await createTestDatabase();
  const open = (schema: string) =>
    createPool({ url: database.url, schema, applicationName: 'test', maxConnections: 6 });
  pools = { ledger: open(BILLING_LEDGER_SCHEMA), usage: open(USAGE_SCHEMA), events: open(EVENT_LOG_SCHEMA) };
  await applyMigrations(pools.ledger, billingLedgerSchema);
  await applyMigrations(pools.usage, usageSchema);
  await applyMigrations(pools.events, eventLogSchema);
  clock = await createDatabaseTestClock(pools.ledger);
  spent = 0;
  metrics = createMetrics({ processMetrics: false });
  eventLog = createPostgresEventLog({ pool: pools.events, clock, log, metrics });
  await eventLog.start();
  const reconciliationIntervalMs = 20;
  const store = createPostgresLedgerStore({ pool: pools.ledger, appender: eventLog, clock });
  modules = [
    createBillingLedgerModule({
      store,
      claims: createPostgresClaimStore({ pool: pools.ledger }),
      history: createPostgresLedgerHistory({ pool: pools.ledger, clock }),
      clock,
      log,
      metrics,
    }),
    createStatementsModule({
      ...createStatementsAdapters({
        pool: pools.ledger,
        appender: eventLog,
        clock,
        encryptionKeys: undefined,
        log,
        settings: { allowPrivateAddresses: false },
        organizationName: async (organizationId) => organizationId,
        timeZones: async () => ({}),
        dashboardUrl: () => undefined,
      }),
      ledger: store,
      auditEntries: [],
      newId,
      clock,
      log,
      metrics,
      reconciliationIntervalMs,
    }),
    createUsageAggregatorModule({
      store: createPostgresSettlementStore(pools.usage),
      refusals: createPostgresRefusalStore(pools.usage),
      reconciler: createPostgresUsageReconciler({ pool: pools.usage, clock }),
      clock,
      log,
      metrics,
      reconciliationIntervalMs,
    }),
  ];
  for (const module of modules) {
    await module.start();
    for (const consumer of module.consumers) await eventLog.subscribe(consumer);
  }
});

afterEach(async () => {
  for (const module of modules) await module.stop();
  await eventLog.stop();
  for (const pool of Object.values(pools)) await pool.end();
  await database.drop();
});

/** Settles generations with and without holds; one organization has insufficient credit. */
async function spend(): Promise<void> {
  spent += GENERATIONS;
  const services = modules.flatMap((module) => module.services);
  const ledger = createClient(BillingLedgerDefinition, inProcessFor(services));
  const now = BigInt(clock.now());
  for (const organizationId of ORGANIZATIONS) {
    await ledger.addCredit({
      creditId: newId('crd'),
      organizationId,
      amountNanoUsd: organizationId === 'org-c' ? 500n : 1_000_000n,
      note: '',
    });
  }
  const generations = Array.from({ length: GENERATIONS }, (_, index) => ({
    generationId: newId('gen'),
    organizationId: ORGANIZATIONS[index % ORGANIZATIONS.length] as string,
    keyId: `key-${index % 2}`,
    modelId: 'acme/m',
    createdUnixMs: now,
    prices: PRICES,
    usage: {
      promptTokens: 10 + index,
      cachedTokens: 3,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      completionTokens: 20,
      reasoningTokens: 7,
    },
  }));
  await ledger.holdCredit({
    holds: generations
      .slice(0, GENERATIONS / 2)
      .map(({ generationId, organizationId, keyId, createdUnixMs }) => ({
        holdId: generationId,
        organizationId,
        keyId,
        amountNanoUsd: 100n,
        prices: PRICES,
        createdUnixMs,
        lifetimeMs: 60_000,
        budgets: [],
      })),
  });
  await ledger.settleGenerations({
    generations: generations.map((each) => GenerationFinished.fromPartial(each)),
  });
  await eventually('every generation is recorded', async () => {
    const { rowCount } = await pools.usage.query('select from generations');
    return rowCount === spent || undefined;
  });
}

async function gauge(name: string): Promise<Record<string, number>> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [String(labels['kind'] ?? ''), value]),
  );
}

const differences = () => gauge('gateway_usage_aggregator_reconciliation_differences');

/** Advances the clock and waits until all settlements are published, consumed and reconciled. */
async function passHour(): Promise<void> {
  await clock.advance(HOUR_MS + 10 * MINUTE_MS);
  const over = Math.floor((clock.now() - 10 * MINUTE_MS) / HOUR_MS) * HOUR_MS;
  const steps: [what: string, pool: Pool, isDone: string][] = [
    [
      'the windows of all organizations are published',
      pools.ledger,
      `select count(*) = ${ORGANIZATIONS.length} as done from announced_settlement_windows where until_unix_ms = ${over}`,
    ],
    [
      'all events are consumed',
      pools.events,
      `select bool_and(g.position = t.last_position) as done from consumer_groups g join topics t using (topic)
       where topic = 'generation.settled'`,
    ],
    [
      'all windows are reconciled',
      pools.usage,
      `select not exists (select from announced_settlements where compared_unix_ms = 0)
         and (select compared_until_unix_ms from reconciliation_progress) = ${over} as done`,
    ],
  ];
  for (const [what, pool, isDone] of steps) {
    await eventually(
      what,
      async () => (await pool.query<{ done: boolean }>(isDone)).rows[0]?.done || undefined,
    );
  }
  // A run updates its metrics at its end.
  for (const module of modules) await module.stop();
}

it('usage and settlements agree in every hour', async () => {
  await spend();
  await clock.advance(HOUR_MS);
  await spend();
  await passHour();
  expect(await differences()).toEqual({});
});

it('a manually changed usage row is found and counted', async () => {
  await spend();
  await pools.usage.query(
    `update generations set charged_nano_usd = charged_nano_usd + 1
     where id = (select min(id) from generations where organization_id = 'org-b')`,
  );
  await passHour();
  expect(await differences()).toEqual({ settlements: 1, hourly_sums: 1 });
  const { rows } = await pools.usage.query(
    `select organization_id, found_charged_nano_usd - expected_charged_nano_usd as more
     from reconciliation_differences where kind = 'settlements'`,
  );
  expect(rows).toEqual([{ organization_id: 'org-b', more: 1n }]);
});

it('a missing posting is found and counted by both ledger and usage', async () => {
  await spend();
  await pools.ledger.query(
    `delete from postings where kind = 'settlement'
       and reference = (select max(reference) from postings where kind = 'settlement' and organization_id = 'org-a')`,
  );
  await passHour();
  expect(await differences()).toEqual({ settlements: 1 });
  const { rows } = await pools.usage.query(
    `select organization_id, found_generations - expected_generations as more from reconciliation_differences`,
  );
  expect(rows).toEqual([{ organization_id: 'org-a', more: 1n }]);
  expect(await gauge('gateway_billing_ledger_reconciliation_differences')).toMatchObject({ charged: 1 });
});

it('a settlement that usage has not recorded is found', async () => {
  await spend();
  await pools.usage.query(`
    with deleted as (delete from generations where id = (select max(id) from generations) returning *),
      hourly as (
        update usage_rollups_hourly sums set requests = sums.requests - 1,
          cost_nano_usd = sums.cost_nano_usd - deleted.cost_nano_usd, charged_nano_usd = sums.charged_nano_usd - deleted.charged_nano_usd
        from deleted where sums.organization_id = deleted.organization_id and sums.key_id = deleted.key_id),
      by_provider as (
        update usage_provider_rollups sums set requests = sums.requests - 1,
          cost_nano_usd = sums.cost_nano_usd - deleted.cost_nano_usd, charged_nano_usd = sums.charged_nano_usd - deleted.charged_nano_usd
        from deleted where sums.organization_id = deleted.organization_id and sums.provider = deleted.provider collate "C")
    update usage_rollups sums set requests = sums.requests - 1,
      cost_nano_usd = sums.cost_nano_usd - deleted.cost_nano_usd, charged_nano_usd = sums.charged_nano_usd - deleted.charged_nano_usd
    from deleted where sums.organization_id = deleted.organization_id and sums.key_id = deleted.key_id`);
  await passHour();
  expect(await differences()).toEqual({ settlements: 1 });
});
