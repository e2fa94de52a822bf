import type { UnixMs } from '@gateway/base';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { createDatabaseClock, type DatabaseClock } from './database-clock';
import { createPool } from './pool';

const HOUR_MS = 3_600_000;
const METRIC = 'gateway_database_clock_offset_seconds';

let database: TestDatabase;
let pool: Pool;
const started: DatabaseClock[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'public', applicationName: 'test', maxConnections: 2 });
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((clock) => clock.stop()));
});
afterAll(async () => {
  if (!pool.ended) await pool.end();
  await database.drop();
});

function open(offsetMs: () => number, intervalMs = 5) {
  const metrics = createMetrics({ processMetrics: false });
  const clock = createDatabaseClock({
    pool,
    schema: 'public',
    clock: { now: () => (Date.now() + offsetMs()) as UnixMs },
    metrics,
    log: createSilentLogger(),
    intervalMs,
  });
  started.push(clock);
  const measuredSeconds = async (): Promise<number> => {
    const line = (await metrics.metrics()).split('\n').find((one) => one.startsWith(`${METRIC}{`));
    return Number(line?.split(' ').at(-1));
  };
  return { clock, measuredSeconds };
}

/** The server runs on this machine; half an hour allows for any delay of the test. */
const isNear = (left: number, right: number) => Math.abs(left - right) < HOUR_MS / 2;

it.each([
  ['behind', -5 * HOUR_MS],
  ['ahead', 5 * HOUR_MS],
])(
  'of a process that is hours %s is that of the database, and the offset is measured',
  async (_, offsetMs) => {
    const { clock, measuredSeconds } = open(() => offsetMs);
    await clock.start();
    expect(isNear(clock.now(), Date.now())).toBe(true);
    expect(isNear((await measuredSeconds()) * 1_000, -offsetMs)).toBe(true);
  },
);

it('follows a step of the clock of the process', async () => {
  let offsetMs = 0;
  const { clock } = open(() => offsetMs);
  await clock.start();
  offsetMs = 5 * HOUR_MS;
  expect(isNear(clock.now(), Date.now())).toBe(false);
  await eventually('another measurement', async () => isNear(clock.now(), Date.now()) || undefined);
});

it('keeps the last offset while the database is unavailable', async () => {
  const { clock } = open(() => 5 * HOUR_MS, HOUR_MS);
  await clock.start();
  await pool.end();
  await clock.stop();
  expect(isNear(clock.now(), Date.now())).toBe(true);
  await expect(clock.start()).resolves.toBeUndefined();
  expect(isNear(clock.now(), Date.now())).toBe(true);
});
