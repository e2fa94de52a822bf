import { createAuditEntry } from '@gateway/test-support';
import { GenerationFinished, GenerationSettled } from '@gateway/contracts/events';
import { applyMigrations, createPool } from '@gateway/database';
import {
  createPostgresEventLog,
  EVENT_LOG_SCHEMA,
  eventLogSchema,
  TOPIC_GENERATION_FINISHED,
  TOPIC_GENERATION_SETTLED,
  type PostgresEventLog,
} from '@gateway/events';
import type { GatewayModule } from '@gateway/module';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import type { Pool } from 'pg';
import { createPostgresLedgerStore } from '../adapters/postgres/ledger-store';
import { auditLedger } from '@gateway/ledger-audit';
import type { LedgerStore } from '../core/ports';
import {
  createLedgerFixture,
  makeHold,
  UNIT_PRICES,
  usdNano,
  type LedgerFixture,
} from '../testing/ledger-fixture';
import { createBillingLedgerModule } from './module';

let fixture: LedgerFixture;
let eventPool: Pool;
let eventLog: PostgresEventLog;
let store: LedgerStore;
let ledger: GatewayModule;
const settled: GenerationSettled[] = [];
let onSettled: () => void = () => undefined;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  eventPool = createPool({
    url: fixture.database.url,
    schema: EVENT_LOG_SCHEMA,
    applicationName: 'event-log',
    maxConnections: 6,
  });
  await applyMigrations(eventPool, eventLogSchema);
  const log = createSilentLogger();
  const metrics = createMetrics({ processMetrics: false });
  eventLog = createPostgresEventLog({ pool: eventPool, clock: systemClock, log, metrics });
  store = createPostgresLedgerStore({ pool: fixture.first.pool, appender: eventLog, clock: systemClock });
  const { claims, history } = fixture.first;
  ledger = createBillingLedgerModule({
    store,
    claims,
    history,
    clock: systemClock,
    log,
    metrics,
  });
  for (const consumer of ledger.consumers) await eventLog.subscribe(consumer);
  await eventLog.subscribe({
    topic: TOPIC_GENERATION_SETTLED,
    group: 'test',
    handle(events) {
      settled.push(...events.map(({ payload }) => GenerationSettled.decode(payload)));
      onSettled();
      return Promise.resolve();
    },
  });
});

afterAll(async () => {
  await eventLog.stop();
  await ledger.stop();
  await eventPool.end();
  await fixture.close();
});

function untilSettled(count: number): Promise<void> {
  return new Promise((resolve) => {
    onSettled = () => {
      if (settled.length >= count) resolve();
    };
    onSettled();
  });
}

const finishedEvent = (generationId: string, more: Partial<GenerationFinished> = {}) => ({
  key: 'org-a',
  payload: GenerationFinished.encode(
    GenerationFinished.fromPartial({
      generationId,
      organizationId: 'org-a',
      keyId: 'key-a',
      createdUnixMs: BigInt(systemClock.now()),
      usage: { completionTokens: 3 },
      prices: UNIT_PRICES,
      ...more,
    }),
  ).finish(),
});

it('settles each generation of the event log once; invalid events become dead letters and block no others', async () => {
  await store.addCredit(
    { creditId: 'c', organizationId: 'org-a', amountNanoUsd: usdNano(1_000), note: '' },
    createAuditEntry(),
  );
  const at = systemClock.now();
  const ids = Array.from({ length: 40 }, (_, index) => `gen-${index}`);
  await store.holdCredit(ids.map((holdId) => makeHold({ holdId, amount: 10, at })));

  const invalid = [{ key: 'org-a', payload: Buffer.from('not a message') }, finishedEvent('', {})];
  const events = ids.map((id) => finishedEvent(id));
  await eventLog.append(TOPIC_GENERATION_FINISHED, [...events.slice(0, 20), ...invalid, ...events]);
  await untilSettled(ids.length);
  await eventLog.append(TOPIC_GENERATION_FINISHED, [finishedEvent('gen-last')]);
  await untilSettled(ids.length + 1);

  expect(settled.map(({ finished }) => finished?.generationId).sort()).toEqual([...ids, 'gen-last'].sort());
  const balance = await store.readBalance('org-a');
  expect(balance).toMatchObject({ chargedNanoUsd: 41n * 3n, heldNanoUsd: 0n });
  expect((await auditLedger(fixture.auditPool)).faults).toEqual([]);
  const { rows } = await eventPool.query('select reason from dead_letters order by position');
  expect(rows).toHaveLength(invalid.length);
});
