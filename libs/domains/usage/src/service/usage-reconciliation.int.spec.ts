import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gateway/base';
import { GenerationSettled } from '@gateway/contracts/events';
import { UnprocessableEventsError, type EventHandler } from '@gateway/events';
import { createLogger, createMetrics, type Registry } from '@gateway/runtime';
import { beginIdleTransaction, createTestClock, type TestClock } from '@gateway/test-support';
import type { Pool } from 'pg';
import {
  createPostgresRefusalStore,
  createPostgresSettlementStore,
  createPostgresUsageReader,
  createPostgresUsageReconciler,
  createUsageAggregatorModule,
} from '../index';
import { logged, settled, type Settled } from '../testing/settled-events';
import { createUsageDatabase, createUsageModules, type UsageDatabase } from '../testing/usage-under-test';
import { createUsageAggregatorMetrics } from './usage-aggregator/metrics';
import { createUsageReconciliation } from './usage-aggregator/reconciliation';

const NINE = Date.UTC(2026, 10, 20, 9);

let database: UsageDatabase;
let pool: Pool;
let clock: TestClock;
let metrics: Registry;
let lines: Record<string, unknown>[];
let handle: EventHandler;
let run: () => Promise<void>;

beforeAll(async () => {
  database = await createUsageDatabase();
  ({ pool } = database);
});

beforeEach(async () => {
  await database.clear();
  clock = createTestClock(NINE + 3 * HOUR_MS);
  lines = [];
  metrics = createMetrics({ processMetrics: false });
  const modules = createUsageModules(pool, clock);
  ({ handle } = modules);
  ({ run } = createUsageReconciliation({
    reconciler: modules.reconciler,
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

afterAll(() => database.close());

interface AnnouncedWindow {
  readonly organizationId?: string;
  /** Hours after nine. */
  readonly from?: number;
  readonly until?: number;
  readonly hours: readonly (readonly [hour: number, generations: bigint, cost: bigint, charged?: bigint])[];
}

function announced({ organizationId = 'org-1', from = 0, until = 1, hours }: AnnouncedWindow) {
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

/** Admitted and settled in the first hour by default. */
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

const announcedCount = async () => (await pool.query('select from announced_settlements')).rowCount;
const loggedErrors = () => lines.filter(({ level }) => level === 'error');

/** Two generations in the first hour, one of them charged below its cost, and their announcement. */
async function consumeTwo() {
  await consume(
    generation('gen-1', { cost: 5n }),
    generation('gen-2', { cost: 7n, charged: 6n, keyId: 'key-2' }),
    announced({ hours: [[0, 2n, 12n, 11n]] }),
  );
}

it('finds no difference in consistent usage, deletes the announcement, and exposes the compared time', async () => {
  await consumeTwo();
  await consume(generation('gen-3', { cost: 9n, createdUnixMs: at(1), settledAt: 1.5 }));
  await run();
  expect(await differences()).toEqual({});
  expect(lines).toEqual([]);
  expect(await announcedCount()).toBe(0);
  const text = await metrics.metrics();
  expect(text).toContain(
    `gateway_usage_aggregator_reconciliation_last_run_timestamp_seconds ${clock.now() / 1_000}`,
  );
  expect(text).toContain(
    `gateway_usage_aggregator_reconciliation_compared_until_timestamp_seconds ${Number(at(1)) / 1_000}`,
  );
  expect(text).toContain('gateway_usage_aggregator_reconciliation_hours_total 1');
});

it('returns the differences and the compared time', async () => {
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
        startsAt: Date.UTC(2026, 10, 20),
        from: 0,
        expected: { generations: 2n, costNanoUsd: 12n, chargedNanoUsd: 11n },
        found: { generations: 2n, costNanoUsd: 12n, chargedNanoUsd: 10n },
        firstSeenAt: clock.now(),
      },
    ],
  });
});

/** Manual changes, as by a bug or an administrator. */
const CORRUPTIONS: [what: string, sql: string, found: Record<string, number>][] = [
  ['a deleted generation', `delete from generations where id = 'gen-1'`, { settlements: 1, hourly_sums: 1 }],
  [
    'a generation with another cost',
    `update generations set cost_nano_usd = cost_nano_usd + 1 where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'a generation with another charge',
    `update generations set charged_nano_usd = charged_nano_usd - 1 where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'a generation of another organization',
    `update generations set organization_id = 'org-2' where id = 'gen-1'`,
    { settlements: 1, hourly_sums: 1 },
  ],
  [
    'an hourly sum with another cost',
    `update usage_rollups_hourly set cost_nano_usd = cost_nano_usd + 1 where key_id = 'key-2'`,
    { hourly_sums: 1, daily_sums: 1 },
  ],
  [
    'an hourly sum with another count',
    `update usage_rollups_hourly set requests = requests + 1 where key_id = 'key-2'`,
    { hourly_sums: 1, daily_sums: 1 },
  ],
  [
    'a daily sum with another charge',
    `update usage_rollups set charged_nano_usd = charged_nano_usd - 1 where key_id = 'key-2'`,
    { daily_sums: 1 },
  ],
  ['a deleted daily sum', `delete from usage_rollups where key_id = 'key-2'`, { daily_sums: 1 }],
];

it.each(CORRUPTIONS)('finds %s, counts it and logs it once', async (_what, sql, found) => {
  await consumeTwo();
  expect((await pool.query(sql)).rowCount).toBe(1);
  await run();
  await run();
  expect(await differences()).toEqual(found);
  expect(
    loggedErrors()
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(Object.keys(found).sort());
  for (const line of loggedErrors()) {
    expect(line).toMatchObject({
      organizationId: 'org-1',
      starts: expect.stringMatching(/^2026-11-20T0[09]:00/),
    });
  }
});

/** Changes of the sums by end user and by tag. */
it.each<[what: string, sql: string, found: Record<string, number>]>([
  [
    'end user of a generation',
    `update generations set external_user = null where id = 'gen-1'`,
    { hourly_values: 1 },
  ],
  [
    'hourly sum by a tag',
    `update usage_value_rollups_hourly set cost_nano_usd = cost_nano_usd + 1 where dimension = 'tag:team'`,
    { hourly_values: 1, daily_values: 1 },
  ],
  [
    'daily sum by end user',
    `update usage_value_rollups set requests = 2 where dimension = 'user' and value = 'alice'`,
    { daily_values: 1 },
  ],
])('finds a changed %s', async (_what, sql, found) => {
  await consume(
    generation('gen-1', { cost: 5n, externalUser: 'alice', tags: [{ name: 'team', value: 'blue' }] }),
    generation('gen-2', { cost: 7n, externalUser: 'bob', tags: [{ name: 'team', value: 'blue' }] }),
    announced({ hours: [[0, 2n, 12n]] }),
  );
  await run();
  expect(await differences()).toEqual({});
  expect((await pool.query(sql)).rowCount).toBe(1);
  await consume(announced({ hours: [[0, 2n, 12n]] }));
  await run();
  expect(await differences()).toEqual(found);
});

it('logs expected and found sums exactly', async () => {
  await consume(generation('gen-1', { cost: 5n }), announced({ hours: [[0, 2n, 12n, 11n]] }));
  await run();
  expect(loggedErrors()).toMatchObject([
    {
      kind: 'settlements',
      msg: 'usage does not match the settlements of the ledger',
      starts: '2026-11-20T09:00:00.000Z',
      expected: { generations: '2', costNanoUsd: '12', chargedNanoUsd: '11' },
      found: { generations: '1', costNanoUsd: '5', chargedNanoUsd: '5' },
    },
  ]);
});

it('finds a generation without a settlement, in an hour without an announcement', async () => {
  await consume(generation('gen-1'), announced({ hours: [] }));
  await run();
  expect(await differences()).toEqual({ settlements: 1 });
  expect(loggedErrors()[0]).toMatchObject({ expected: { generations: '0' }, found: { generations: '1' } });
});

it('resolves a difference once a dead letter is redelivered', async () => {
  await consume(announced({ hours: [[0, 1n, 5n]] }));
  await run();
  expect(await differences()).toEqual({ settlements: 1 });
  await consume(generation('gen-1', { cost: 5n }));
  await run();
  expect(await differences()).toEqual({});
  expect(await announcedCount()).toBe(0);
  expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'usage reconciliation: a difference has ended' });
});

it('resolves a difference of sums once they are corrected', async () => {
  await consumeTwo();
  await pool.query('update usage_rollups set requests = requests + 1');
  await run();
  expect(await differences()).toEqual({ daily_sums: 1 });
  await pool.query('update usage_rollups set requests = requests - 1');
  await run();
  expect(await differences()).toEqual({});
});

it('reports no difference for settlements after the window, early admissions and repeated events', async () => {
  const earlier = generation('gen-earlier', { createdUnixMs: at(-30), cost: 3n });
  const later = generation('gen-later', { cost: 4n, settledAt: 1 });
  const window = announced({
    hours: [
      [-30, 1n, 3n],
      [0, 1n, 5n],
    ],
  });
  await consume(earlier, generation('gen-1', { cost: 5n }), window, later);
  await consume(earlier, generation('gen-1', { cost: 5n }), window);
  await run();
  expect(await differences()).toEqual({});
  await consume(announced({ from: 1, until: 2, hours: [[0, 1n, 4n]] }), window);
  await run();
  expect(await differences()).toEqual({});
  expect(await announcedCount()).toBe(0);
});

it('does not compare sums of generations that may be past their retention', async () => {
  clock.set(NINE + 40 * DAY_MS);
  await consumeTwo();
  await pool.query('update usage_rollups_hourly set requests = requests + 1');
  await run();
  expect(await differences()).toEqual({});
});

it('compares a limited number of hours, new ones before differing ones', async () => {
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  await consume(announced({ hours: [[0, 1n, 5n]] }));
  expect(await reconciler.reconcile(1)).toMatchObject({ hours: 1, differences: [{ kind: 'settlements' }] });
  await consume(announced({ from: 1, until: 3, hours: [] }));
  clock.advance(MINUTE_MS);
  expect(await reconciler.reconcile(1)).toMatchObject({ hours: 1, comparedUntil: Number(at(3)) });
  expect(await reconciler.reconcile(1)).toMatchObject({ hours: 1, comparedUntil: Number(at(3)) });
  expect(await announcedCount()).toBe(1);
  // The difference is still stored.
  expect(await reconciler.reconcile(10)).toMatchObject({ hours: 1, differences: [{ kind: 'settlements' }] });
});

it('keeps the last of several copies of an announcement in one batch', async () => {
  await consume(
    generation('gen-1', { cost: 5n }),
    announced({ hours: [[0, 2n, 9n]] }),
    announced({ hours: [[0, 1n, 5n]] }),
  );
  expect(await announcedCount()).toBe(1);
  await run();
  expect(await differences()).toEqual({});
});

it('stores no announcement before its generations are stored', async () => {
  const { consumers } = createUsageAggregatorModule({
    store: { ...createPostgresSettlementStore(pool), record: () => Promise.reject(new Error('unavailable')) },
    refusals: createPostgresRefusalStore(pool),
    reconciler: createPostgresUsageReconciler({ pool, clock }),
    clock,
    metrics: createMetrics({ processMetrics: false }),
  });
  const batch = [generation('gen-1'), announced({ hours: [[0, 1n, 5n]] })].map(logged);
  await expect(consumers[0]!.handle(batch)).rejects.toThrow('unavailable');
  expect(await announcedCount()).toBe(0);
});

it('runs in one process at a time', async () => {
  const reconciler = createPostgresUsageReconciler({ pool, clock });
  const client = await pool.connect();
  await beginIdleTransaction(client);
  await client.query(
    `select pg_advisory_xact_lock(hashtextextended(current_schema || '.reconcile_usage', 0))`,
  );
  expect(await reconciler.reconcile(10)).toBeUndefined();
  await client.query('rollback');
  client.release();
  expect(await reconciler.reconcile(10)).toBeDefined();
});

it('rejects an invalid window, and stores the rest of its batch', async () => {
  const tooLong = announced({ from: 0, until: 32 * 24, hours: [] });
  await expect(
    consume(generation('gen-1', { cost: 5n }), tooLong, announced({ hours: [[0, 1n, 5n]] })),
  ).rejects.toThrow(UnprocessableEventsError);
  await run();
  expect(await differences()).toEqual({});
  await expect(consume(announced({ organizationId: '', hours: [] }))).rejects.toThrow(
    'organization_id is empty',
  );
});
