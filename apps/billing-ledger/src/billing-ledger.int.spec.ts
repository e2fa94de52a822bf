import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeActorKeys } from '@gateway/certificates';
import { BillingLedgerDefinition, type Hold } from '@gateway/contracts/billing-ledger';
import { GenerationFinished, GenerationSettled } from '@gateway/contracts/events';
import { createPool, findFreePort } from '@gateway/database';
import { describeWith, kafkaBroker, provideKafka, type KafkaServer } from '@gateway/dev-infra';
import { EVENT_LOG_SCHEMA, TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { createKafkaEventLog, type KafkaEventLog } from '@gateway/events/kafka';
import { createService, openActorSigner, type RunningService } from '@gateway/process';
import { actAs, createActingTransport, createClient, type RpcClient } from '@gateway/rpc';
import { createReplicatedTransport, type GrpcTransport } from '@gateway/rpc/grpc';
import { createMetrics, createSilentLogger, readConfig, systemClock as clock } from '@gateway/runtime';
import { createTestDatabase, eventually, TEST_OPERATOR, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { settings } from './config';
import { wireBillingLedger } from './wiring';

const GENERATIONS = 30;
const PRICES = {
  inputNanoUsdPerMillion: 1_000_000n,
  cachedInputNanoUsdPerMillion: 1_000_000n,
  cacheWriteNanoUsdPerMillion: 1_000_000n,
  cacheWrite1hNanoUsdPerMillion: 1_000_000n,
  outputNanoUsdPerMillion: 1_000_000n,
  reasoningNanoUsdPerMillion: 1_000_000n,
  imageNanoUsdPerMillion: 1_000_000n,
  tiers: [],
};
const log = createSilentLogger();

jest.setTimeout(180_000);

describeWith(kafkaBroker, 'the ledger in two processes, over PostgreSQL and Kafka', () => {
  let keysFolder: string;
  let server: Pick<KafkaServer, 'broker' | 'stop'>;
  let database: TestDatabase;
  let consumerPool: Pool;
  let services: RunningService[];
  let events: KafkaEventLog;
  let transport: GrpcTransport;
  let ledger: RpcClient<typeof BillingLedgerDefinition>;
  const announced: string[] = [];

  async function start(): Promise<{ service: RunningService; port: number }> {
    const config = readConfig(settings, {
      GATEWAY_ACTOR_KEYS_DIR: join(keysFolder, 'billing-ledger'),
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_RPC_PORT: String(await findFreePort()),
      GATEWAY_RPC_ADMIN_PORT: String(await findFreePort()),
      GATEWAY_RPC_SECURITY: 'plaintext',
      GATEWAY_ADMIN_PORT: String(await findFreePort()),
      DATABASE_URL: database.url,
      KAFKA_BROKERS: server.broker,
      // Nothing listens there: no incident is reported.
      GATEWAY_AUTH_TARGET: '127.0.0.1:1',
      KAFKA_PARTITIONS: '4',
    });
    const service = createService({ name: 'billing-ledger', config, log, wire: wireBillingLedger });
    await service.start();
    return { service, port: config.GATEWAY_RPC_PORT };
  }

  beforeAll(async () => {
    keysFolder = mkdtempSync(join(tmpdir(), 'gateway-keys-'));
    await writeActorKeys(keysFolder, {
      services: ['billing-ledger'],
      signers: ['dashboard-api'],
      rotationDays: 1,
      nowUnixMs: Date.now(),
    });
    [server, database] = await Promise.all([provideKafka(), createTestDatabase()]);
    // Concurrently, so that both migrate the same empty database.
    const started = await Promise.all([start(), start()]);
    services = started.map(({ service }) => service);
    transport = createReplicatedTransport({
      target: started.map(({ port }) => `127.0.0.1:${port}`).join(','),
    });
    const signer = openActorSigner(join(keysFolder, 'dashboard-api'), 'dashboard-api');
    ledger = createClient(
      BillingLedgerDefinition,
      createActingTransport(transport, { audience: 'billing-ledger', signer }),
    );
    consumerPool = createPool({
      url: database.url,
      schema: EVENT_LOG_SCHEMA,
      applicationName: 'test',
      maxConnections: 4,
    });
    events = createKafkaEventLog({
      connection: { brokers: server.broker.split(',') },
      clientId: 'test',
      consumerPool,
      clock,
      log,
      metrics: createMetrics({ processMetrics: false }),
    });
    await events.subscribe({
      topic: TOPIC_GENERATION_SETTLED,
      group: 'test',
      handle: async (batch) => {
        for (const { payload } of batch) {
          const { finished } = GenerationSettled.decode(payload);
          if (finished?.organizationId.startsWith(`org-${run}-`)) announced.push(finished.generationId);
        }
      },
    });
  });

  afterAll(async () => {
    transport?.close();
    await events?.stop();
    await Promise.all((services ?? []).map((service) => service.stop()));
    await consumerPool?.end();
    await server?.stop();
    await database?.drop();
    rmSync(keysFolder, { recursive: true });
  });

  // Unique, since the topics of a provided broker may contain the events of earlier runs.
  const run = clock.now();
  const idOf = (index: number) => `gen-${run}${String(index).padStart(13, '0')}`;
  const organizationOf = (index: number) => `org-${run}-${index % 5}`;

  function holdOf(index: number): Hold {
    return {
      holdId: idOf(index),
      organizationId: organizationOf(index),
      keyId: 'key-1',
      amountNanoUsd: 10n,
      prices: PRICES,
      lifetimeMs: 600_000,
      createdUnixMs: BigInt(clock.now()),
      budgets: [],
      idempotencyScope: undefined,
    };
  }

  const finishedOf = (index: number) => ({
    key: organizationOf(index),
    payload: GenerationFinished.encode(
      GenerationFinished.fromPartial({
        generationId: idOf(index),
        organizationId: organizationOf(index),
        keyId: 'key-1',
        createdUnixMs: BigInt(clock.now()),
        usage: { completionTokens: 4 },
        prices: PRICES,
      }),
    ).finish(),
  });

  it('settles and announces each finished generation once, also after one process has stopped', async () => {
    for (let index = 0; index < 5; index += 1) {
      await actAs({ ...TEST_OPERATOR, organization: { id: organizationOf(index) } }, () =>
        ledger.addCredit({
          creditId: `crd-${index}`,
          organizationId: organizationOf(index),
          amountNanoUsd: 1_000n,
          note: '',
        }),
      );
    }
    const indexes = Array.from({ length: GENERATIONS }, (_, index) => index);
    const { results } = await ledger.holdCredit({ holds: indexes.map(holdOf) });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(indexes.map(() => 'held'));

    const half = GENERATIONS / 2;
    // Appended twice, as after a crash of the producer.
    await events.append(TOPIC_GENERATION_FINISHED, indexes.slice(0, half).map(finishedOf));
    await events.append(TOPIC_GENERATION_FINISHED, indexes.slice(0, half).map(finishedOf));
    await announcements(half);
    const [stopped] = services.splice(0, 1);
    await stopped?.stop();
    await events.append(TOPIC_GENERATION_FINISHED, indexes.slice(half).map(finishedOf));
    await announcements(GENERATIONS);

    const balances = await Promise.all(
      [0, 1, 2, 3, 4].map((index) => ledger.getBalance({ organizationId: organizationOf(index) })),
    );
    const each = BigInt(GENERATIONS / 5) * 4n;
    expect(balances.map(({ totalUsageNanoUsd, heldNanoUsd }) => [totalUsageNanoUsd, heldNanoUsd])).toEqual(
      balances.map(() => [each, 0n]),
    );
  });

  async function announcements(count: number): Promise<void> {
    await eventually(
      `${count} announcements`,
      async () => (new Set(announced).size >= count ? true : undefined),
      { timeoutMs: 90_000 },
    );
    expect(new Set(announced).size).toBe(count);
  }
});
