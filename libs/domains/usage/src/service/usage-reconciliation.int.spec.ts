import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gateway/base';
import { GenerationSettled } from '@gateway/contracts/events';
import { applyMigrations, createPool } from '@gateway/database';
import { UnprocessableEventsError, type EventHandler } from '@gateway/events';
import { createLogger, createMetrics, type Registry } from '@gateway/runtime';
import {
  beginPatiently,
  createTestClock,
  createTestDatabase,
  type TestClock,
  type TestDatabase,
} from '@gateway/test-support';
import type { Pool } from 'pg';
import {
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
  USAGE_SCHEMA,
  usageSchema,
} from '../index';
import { logged, settled, type Settled } from '../testing/settled-events';
import { createUsageAggregatorMetrics } from './usage-aggregator/metrics';
import { createReconciliation } from './usage-aggregator/reconciliation';

const NINE = Date.UTC(2026, 10, 20, 9);

let database: TestDatabase;
let pool: Pool;
let clock: TestClock;
let metrics: Registry;
let lines: Record<string, unknown>[];
let handle: EventHandler;
let run: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: USAGE_SCHEMA, applicationName: 'test', maxConnections: 4 });
  await applyMigrations(pool, usageSchema);
});

beforeEach(async () => {
  await pool.query(
    `truncate generations, usage_rollups, usage_rollups_hourly, reconciliation_told, reconciliation_differences,
       reconciliation_progress`,
  );
  clock = createTestClock(NINE + 3 * HOUR_MS);
  lines = [];
  metrics = createMetrics({ processMetrics: false });
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  const aggregator = createUsageAggregatorModule({
    store: createPostgresSettlementStore(pool),
    reconciler,
    clock,
    metrics: createMetrics({ processMetrics: false }),
  });
  handle = aggregator.consumers[0]!.handle;
  ({ run } = createReconciliation({
    reconciler,
    clock,
    log: createLogger({
      name: 'test',
      level: 'info',
      pretty: false,
      destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    }),
    metrics: createUsageAggregatorMetrics(metrics),
    intervalMs: 1_000_000,
  }));
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface Told {
  readonly organizationId?: string;
  /** Hours after nine. */
  readonly from?: number;
  readonly until?: number;
  readonly hours: readonly (readonly [hour: number, generations: bigint, cost: bigint, charged?: bigint])[];
}

function told({ organizationId = 'org-1', from = 0, until = 1, hours }: Told) {
  return GenerationSettled.fromPartial({
    window: {
      organizationId,
      fromUnixMs: at(from),
      untilUnixMs: at(until),
      hours: hours.map(([hour, generations, costNanoUsd, chargedNanoUsd = costNanoUsd]) => ({
        hourUnixMs: at(hour),
        generations,
        costNanoUsd,
        chargedNanoUsd,
      })),
    },
  });
}

const at = (hours: number) => BigInt(NINE + hours * HOUR_MS);

/** Admitted in the first hour and settled a moment later, unless it says otherwise. */
function generation(
  generationId: string,
  { settledAt = 0.5, ...more }: Settled & { settledAt?: number } = {},
) {
  const message = settled({ generationId, createdUnixMs: at(0) + 60_000n, ...more });
  return { ...message, settledUnixMs: BigInt(NINE + settledAt * HOUR_MS) };
}

const consume = (...events: GenerationSettled[]) => handle(events.map(logged));

async function differences() {
  const { values = [] } =
    (await metrics.getSingleMetric('gateway_usage_aggregator_reconciliation_differences')?.get()) ?? {};
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels['kind'], value]),
  );
}

const waiting = async () => (await pool.query('select from reconciliation_told')).rowCount;
const named = () => lines.filter(({ level }) => level === 'error');

/** Two generations of the first hour, one of them dearer than what was paid, and what the ledger tells of them. */
async function consumeTwo() {
  await consume(
    generation('gen-1', { cost: 5n }),
    generation('gen-2', { cost: 7n, charged: 6n, keyId: 'key-2' }),
    told({ hours: [[0, 2n, 12n, 11n]] }),
  );
}

it('finds what agrees to agree, forgets what it was told, and says until when it looked', async () => {
  await consumeTwo();
  await consume(generation('gen-3', { cost: 9n, createdUnixMs: at(1), settledAt: 1.5 }));
  await run();
  expect(await differences()).toEqual({});
  expect(lines).toEqual([]);
  expect(await waiting()).toBe(0);
  const text = await metrics.metrics();
  expect(text).toContain(
    `gateway_usage_aggregator_reconciliation_last_run_timestamp_seconds ${clock.now() / 1_000}`,
  );
  expect(text).toContain(
    `gateway_usage_aggregator_reconciliation_compared_until_timestamp_seconds ${Number(at(1)) / 1_000}`,
  );
  expect(text).toContain('gateway_usage_aggregator_reconciliation_hours_total 1');
});

it('says to whoever asks what it found and until when it looked', async () => {
  const reader = createPostgresUsageReader(pool);
  expect(await reader.readReconciliation()).toEqual({
    comparedUntil: undefined,
    knownDifferences: 0,
    differences: [],
  });
  await consumeTwo();
  await pool.query(`update usage_rollups set charged_nano_usd = charged_nano_usd - 1 where key_id = 'key-2'`);
  await run();
  expect(await reader.readReconciliation()).toEqual({
    comparedUntil: Number(at(1)),
    knownDifferences: 1,
    differences: [
      {
        organizationId: 'org-1',
        kind: 'daily_sums',
        startsUnixMs: Date.UTC(2026, 10, 20),
        fromUnixMs: 0,
        expected: { generations: 2n, costNanoUsd: 12n, chargedNanoUsd: 11n },
        found: { generations: 2n, costNanoUsd: 12n, chargedNanoUsd: 10n },
        firstSeenUnixMs: clock.now(),
      },
    ],
  });
});

/** By hand, as somebody with all rights could, or a bug. */
const CORRUPTIONS: [what: string, sql: string, found: Record<string, number>][] = [
  [
    'a generation that is gone',
    `delete from generations where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'a generation of another cost',
    `update generations set cost_nano_usd = cost_nano_usd + 1 where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'a generation that somebody else paid',
    `update generations set charged_nano_usd = charged_nano_usd - 1 where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'a generation that is another organization’s now',
    `update generations set organization_id = 'org-2' where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'a sum of an hour with other money',
    `update usage_rollups_hourly set cost_nano_usd = cost_nano_usd + 1 where key_id = 'key-2'`,
    { hourly_sums: 1, daily_sums: 1 },
  ],
  [
    'a sum of an hour with other requests',
    `update usage_rollups_hourly set requests = requests + 1 where key_id = 'key-2'`,
    { hourly_sums: 1, daily_sums: 1 },
  ],
  [
    'a sum of a day with other charges',
    `update usage_rollups set charged_nano_usd = charged_nano_usd - 1 where key_id = 'key-2'`,
    { daily_sums: 1 },
  ],
  ['a sum of a day that is gone', `delete from usage_rollups where key_id = 'key-2'`, { daily_sums: 1 }],
];

it.each(CORRUPTIONS)('finds %s, names it, counts it and logs it once', async (_what, sql, found) => {
  await consumeTwo();
  expect((await pool.query(sql)).rowCount).toBe(1);
  await run();
  await run();
  expect(await differences()).toEqual(found);
  expect(
    named()
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(Object.keys(found).sort());
  for (const line of named()) {
    expect(line).toMatchObject({
      organizationId: 'org-1',
      starts: expect.stringMatching(/^2026-11-20T0[09]:00/),
    });
  }
});

it('names what is missing to the count and the nano-dollar', async () => {
  await consume(generation('gen-1', { cost: 5n }), told({ hours: [[0, 2n, 12n, 11n]] }));
  await run();
  expect(named()).toMatchObject([
    {
      kind: 'settlements',
      msg: 'usage does not agree with what the ledger settled',
      starts: '2026-11-20T09:00:00.000Z',
      expected: { generations: '2', costNanoUsd: '12', chargedNanoUsd: '11' },
      found: { generations: '1', costNanoUsd: '5', chargedNanoUsd: '5' },
    },
  ]);
});

it('finds a generation that the ledger knows nothing of, in an hour that it does not name', async () => {
  await consume(generation('gen-1'), told({ hours: [] }));
  await run();
  expect(await differences()).toEqual({ settlements: 1 });
  expect(named()[0]).toMatchObject({ expected: { generations: '0' }, found: { generations: '1' } });
});

it('is told of no difference any more once a dead letter was redelivered', async () => {
  await consume(told({ hours: [[0, 1n, 5n]] }));
  await run();
  expect(await differences()).toEqual({ settlements: 1 });
  await consume(generation('gen-1', { cost: 5n }));
  await run();
  expect(await differences()).toEqual({});
  expect(await waiting()).toBe(0);
  expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'usage agrees again' });
});

it('finds mended sums mended', async () => {
  await consumeTwo();
  await pool.query('update usage_rollups set requests = requests + 1');
  await run();
  expect(await differences()).toEqual({ daily_sums: 1 });
  await pool.query('update usage_rollups set requests = requests - 1');
  await run();
  expect(await differences()).toEqual({});
});

it('is not alarmed by what was settled after the window, admitted long before it, or comes twice', async () => {
  const earlier = generation('gen-earlier', { createdUnixMs: at(-30), cost: 3n });
  const later = generation('gen-later', { cost: 4n, settledAt: 1 });
  const window = told({
    hours: [
      [-30, 1n, 3n],
      [0, 1n, 5n],
    ],
  });
  await consume(earlier, generation('gen-1', { cost: 5n }), window, later);
  await consume(earlier, generation('gen-1', { cost: 5n }), window);
  await run();
  expect(await differences()).toEqual({});
  await consume(told({ from: 1, until: 2, hours: [[0, 1n, 4n]] }), window);
  await run();
  expect(await differences()).toEqual({});
  expect(await waiting()).toBe(0);
});

it('compares no sums of generations that may be past their retention', async () => {
  clock.set(NINE + 40 * DAY_MS);
  await consumeTwo();
  await pool.query('update usage_rollups_hourly set requests = requests + 1');
  await run();
  expect(await differences()).toEqual({});
});

it('takes a part at a time, what is new before what differs', async () => {
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  await consume(told({ hours: [[0, 1n, 5n]] }));
  expect(await reconciler.reconcile(1)).toMatchObject({ hours: 1, differences: [{ kind: 'settlements' }] });
  await consume(told({ from: 1, until: 3, hours: [] }));
  clock.advance(MINUTE_MS);
  expect(await reconciler.reconcile(1)).toMatchObject({ hours: 1, comparedUntilUnixMs: Number(at(3)) });
  expect(await reconciler.reconcile(1)).toMatchObject({ hours: 1, comparedUntilUnixMs: Number(at(3)) });
  expect(await waiting()).toBe(1);
  // All of it is there still.
  expect(await reconciler.reconcile(10)).toMatchObject({ hours: 1, differences: [{ kind: 'settlements' }] });
});

it('keeps nothing of what the ledger tells before the generations that it is about are stored', async () => {
  const { consumers } = createUsageAggregatorModule({
    store: { ...createPostgresSettlementStore(pool), record: () => Promise.reject(new Error('away')) },
    reconciler: createPostgresUsageReconciler({ pool, clock }),
    clock,
    metrics: createMetrics({ processMetrics: false }),
  });
  const batch = [generation('gen-1'), told({ hours: [[0, 1n, 5n]] })].map(logged);
  await expect(consumers[0]!.handle(batch)).rejects.toThrow('away');
  expect(await waiting()).toBe(0);
});

it('is done by one process at a time', async () => {
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  const client = await pool.connect();
  await beginPatiently(client);
  await client.query(
    `select pg_advisory_xact_lock(hashtextextended(current_schema || '.reconcile_usage', 0))`,
  );
  expect(await reconciler.reconcile(10)).toBeUndefined();
  await client.query('rollback');
  client.release();
  expect(await reconciler.reconcile(10)).toBeDefined();
});

it('gives up on a window that no ledger would tell of, and keeps the rest of its batch', async () => {
  const impossible = told({ from: 0, until: 32 * 24, hours: [] });
  await expect(
    consume(generation('gen-1', { cost: 5n }), impossible, told({ hours: [[0, 1n, 5n]] })),
  ).rejects.toThrow(UnprocessableEventsError);
  await run();
  expect(await differences()).toEqual({});
  await expect(consume(told({ organizationId: '', hours: [] }))).rejects.toThrow('organization_id is empty');
});
