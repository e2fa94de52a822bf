import { createAdminClient } from '@gateway/admin-calls';
import {
  BILLING_LEDGER_SCHEMA,
  billingLedgerSchema,
  createBillingLedgerModule,
  createPostgresClaimStore,
  createPostgresLedgerHistory,
  createPostgresLedgerStore,
} from '@gateway/billing-ledger';
import { createAuditEntries } from '@gateway/audit';
import { DAY_MS } from '@gateway/base';
import { AuditLogDefinition } from '@gateway/contracts/audit';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationFinished, GenerationSettled } from '@gateway/contracts/events';
import { applyMigrations, createPool } from '@gateway/database';
import type { TransactionalAppender } from '@gateway/events';
import type { PoolClient } from 'pg';
import {
  createActingTransport,
  createClient,
  createInProcessTransport,
  type BoundService,
} from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId } from '@gateway/runtime';
import { createEncryptionKey } from '@gateway/secrets';
import { createStatementsAdapters, createStatementsModule } from '@gateway/statements';
import {
  createDatabaseTestClock,
  createTestDatabase,
  inProcessFor,
  unsignedActors,
} from '@gateway/test-support';
import {
  createGenerationQueryModule,
  createPostgresRefusalStore,
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
  USAGE_SCHEMA,
  usageSchema,
} from '@gateway/usage';
import { createDashboardFixture, ownerWith } from './dashboard-fixture';

const PRICES = {
  inputNanoUsdPerMillion: 1_000_000_000n,
  cachedInputNanoUsdPerMillion: 500_000_000n,
  cacheWriteNanoUsdPerMillion: 1_250_000_000n,
  cacheWrite1hNanoUsdPerMillion: 3_000_000_000n,
  outputNanoUsdPerMillion: 4_000_000_000n,
  reasoningNanoUsdPerMillion: 8_000_000_000n,
  imageNanoUsdPerMillion: 2_000_000_000n,
  tiers: [],
};

export interface Spending {
  readonly id: string;
  readonly organizationId: string;
  readonly promptTokens?: number;
  readonly modelId?: string;
  readonly keyId?: string;
  readonly latencyMs?: number;
}

/** The dashboard API with real auth, ledger and usage domains. Tests spend money explicitly, on a test clock. */
export async function createMoneyFixture({ allowPrivateAddresses = true } = {}) {
  const database = await createTestDatabase();
  const log = createSilentLogger();
  const pools = {
    ledger: createPool({
      url: database.url,
      schema: BILLING_LEDGER_SCHEMA,
      applicationName: 't',
      maxConnections: 4,
    }),
    usage: createPool({ url: database.url, schema: USAGE_SCHEMA, applicationName: 't', maxConnections: 4 }),
  };
  await applyMigrations(pools.ledger, billingLedgerSchema);
  await applyMigrations(pools.usage, usageSchema);
  const clock = await createDatabaseTestClock(pools.ledger);
  const settledEvents: GenerationSettled[] = [];
  const appender: TransactionalAppender<PoolClient> = {
    appending: (_topic, events) => ({
      async write(client) {
        // Fails if the transaction has failed.
        await client.query('select');
        settledEvents.push(...events.map(({ payload }) => GenerationSettled.decode(payload)));
      },
      committed: () => undefined,
    }),
  };
  const store = createPostgresLedgerStore({ pool: pools.ledger, clock, appender });
  const metrics = createMetrics({ processMetrics: false });
  const ledgerModule = createBillingLedgerModule({
    store,
    claims: createPostgresClaimStore({ pool: pools.ledger }),
    history: createPostgresLedgerHistory({ pool: pools.ledger, clock }),
    clock,
    log,
    metrics,
    maintenanceIntervalMs: 20,
  });
  const statements = createStatementsModule({
    ...createStatementsAdapters({
      pool: pools.ledger,
      appender,
      clock,
      encryptionKeys: [createEncryptionKey()],
      log,
      settings: { allowPrivateAddresses },
      organizationName: async (organizationId) => organizationId,
      timeZones: async () => ({}),
      dashboardUrl: () => undefined,
    }),
    ledger: store,
    auditEntries: [createAuditEntries(pools.ledger, BILLING_LEDGER_SCHEMA)],
    newId,
    clock,
    log,
    metrics,
    alertIntervalMs: 20,
  });
  await ledgerModule.start();
  await statements.start();
  const aggregator = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pools.usage),
    refusals: createPostgresRefusalStore(pools.usage),
    reconciler: createPostgresUsageReconciler({ pool: pools.usage, clock }),
    clock,
    metrics: createMetrics({ processMetrics: false }),
  });
  const query = createGenerationQueryModule({ reader: createPostgresUsageReader(pools.usage), clock });
  /** Acts for the person of the dashboard's request. */
  const actingOn = (served: readonly BoundService[]) =>
    createActingTransport(createInProcessTransport(served, { actors: unsignedActors }), {
      audience: 'test',
      signer: unsignedActors,
    });
  const ledger = createClient(BillingLedgerDefinition, inProcessFor(ledgerModule.services));
  const dashboard = await createDashboardFixture({
    auditLogs: [createClient(AuditLogDefinition, actingOn(statements.services))],
    owners: {
      'billing-ledger': createAdminClient(actingOn(statements.services)),
      'generation-query': createAdminClient(actingOn(query.services)),
      'inference-router': ownerWith('inference-router'),
    },
    clock,
  });

  return {
    clock,
    pools,
    dashboard,
    ledger,
    /** Holds, settles and publishes a generation, as the edge, the router and the event log do. */
    async spend({
      id,
      organizationId,
      promptTokens = 1_000,
      modelId = 'acme/m',
      keyId = 'key-1',
      latencyMs = 300,
    }: Spending) {
      const now = BigInt(clock.now());
      const { results } = await ledger.holdCredit({
        holds: [
          {
            holdId: id,
            organizationId,
            keyId,
            amountNanoUsd: 20_000_000n,
            prices: PRICES,
            lifetimeMs: DAY_MS / 2,
            createdUnixMs: now,
            budgets: [],
          },
        ],
      });
      if (results[0]?.outcome?.$case !== 'held') throw new Error(`not held: ${results[0]?.outcome?.$case}`);
      const finished = GenerationFinished.fromPartial({
        generationId: id,
        organizationId,
        keyId,
        requestId: id.replace('gen', 'req'),
        modelId,
        provider: 'acme',
        providerModel: 'm-1',
        createdUnixMs: now,
        finishReason: 'stop',
        usage: {
          promptTokens,
          cachedTokens: 100,
          cacheWriteTokens: 30,
          cacheWrite1hTokens: 20,
          imageTokens: 0,
          completionTokens: 10,
          reasoningTokens: 3,
        },
        latencyMs,
        generationTimeMs: 700,
        prices: PRICES,
        attempts: [
          {
            provider: 'other',
            providerModel: 'secret-deployment',
            reason: 'weight',
            outcome: 'timed_out',
            durationMs: 50,
            error: { httpStatus: 504, code: 'secret-code', type: '', text: 'secret' },
          },
          { provider: 'acme', providerModel: 'm-1', reason: 'failover', outcome: 'ok', durationMs: 1_000 },
        ],
      });
      await ledger.settleGenerations({ generations: [finished] });
      const settled = settledEvents.filter((one) => one.finished?.generationId === id).at(-1);
      if (!settled) throw new Error('no generation.settled event was appended');
      await aggregator.consumers[0]!.handle([
        {
          topic: 'generation.settled',
          key: organizationId,
          headers: {},
          position: BigInt(settledEvents.length),
          payload: GenerationSettled.encode(settled).finish(),
        },
      ]);
      return settled;
    },
    async stop() {
      await dashboard.stop();
      await statements.stop();
      await ledgerModule.stop();
      await pools.ledger.end();
      await pools.usage.end();
      await database.drop();
    },
  };
}

export type MoneyFixture = Awaited<ReturnType<typeof createMoneyFixture>>;
