import { DAY_MS } from '@gateway/base';
import { beginIdleTransaction, createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { dropPartitions, listPartitions, createPartitions, type PartitionedTable } from './partitions';
import { createPool } from './pool';

const at = (text: string) => Date.parse(`${text}Z`);
const days: PartitionedTable = {
  schema: 'public',
  table: 'log',
  key: 'at',
  period: 'day',
  smallestKeyAt: (unixMs) => new Date(unixMs).toISOString(),
};
const months: PartitionedTable = { ...days, period: 'month' };

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: 'public', applicationName: 'test', maxConnections: 4 });
  await pool.query('create table log (at timestamptz not null, what text not null) partition by range (at)');
  await pool.query('create index log_by_time on log (at)');
  await pool.query('create table log_default partition of log default');
});

afterEach(async () => {
  await pool.end();
  await database.drop();
});

const names = async () => (await listPartitions(pool, days)).map(({ name }) => name);
const make = (table: PartitionedTable, now: string, ahead: number) =>
  createPartitions(pool, table, { nowUnixMs: at(now), ahead });
const write = (time: string) => pool.query(`insert into log values ($1, 'x')`, [`${time}Z`]);

async function placeOf(time: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ place: string }>(
    'select tableoid::regclass::text as place from log where at = $1',
    [`${time}Z`],
  );
  return rows[0]?.place;
}

it('creates the current and future periods once, with the indexes of the table', async () => {
  expect(await make(days, '2026-12-30T13:00', 2)).toBe(3);
  expect(await names()).toEqual(['log_until_20261231', 'log_until_20270101', 'log_until_20270102']);
  expect(await make(days, '2026-12-30T23:59', 2)).toBe(0);
  expect(await make(days, '2026-12-31T00:00', 2)).toBe(1);
  await write('2026-12-30T00:00');
  await write('2026-12-30T23:59:59.999');
  await write('2026-12-31T00:00');
  expect(await placeOf('2026-12-30T00:00')).toBe('log_until_20261231');
  expect(await placeOf('2026-12-30T23:59:59.999')).toBe('log_until_20261231');
  expect(await placeOf('2026-12-31T00:00')).toBe('log_until_20270101');
  const { rowCount } = await pool.query(`select from pg_indexes where tablename = 'log_until_20261231'`);
  expect(rowCount).toBe(1);
});

it('creates months, over the end of a year and from the 31st on', async () => {
  expect(await make(months, '2026-12-31T12:00', 2)).toBe(3);
  expect(await names()).toEqual(['log_until_20270101', 'log_until_20270201', 'log_until_20270301']);
});

it('spans a downtime with one partition, without a gap', async () => {
  await make(days, '2026-01-01T12:00', 0);
  await make(days, '2026-01-20T12:00', 0);
  expect(await names()).toEqual(['log_until_20260102', 'log_until_20260121']);
  await write('2026-01-10T00:00');
  expect(await placeOf('2026-01-10T00:00')).toBe('log_until_20260121');
});

it('continues from a partition that ends within a period', async () => {
  await make(days, '2026-01-10T12:00', 0);
  await make(months, '2026-01-10T12:00', 0);
  expect(await names()).toEqual(['log_until_20260111', 'log_until_20260201']);
});

it('moves matching rows of the default partition, and leaves the others', async () => {
  await write('2026-01-10T01:00');
  await write('2031-01-01T00:00');
  await make(days, '2026-01-10T12:00', 1);
  expect(await placeOf('2026-01-10T01:00')).toBe('log_until_20260111');
  expect(await placeOf('2031-01-01T00:00')).toBe('log_default');
});

it('drops old partitions, oldest first, unless `mayDrop` refuses', async () => {
  await make(days, '2026-01-10T12:00', 3);
  const candidates: string[] = [];
  const dropped = await dropPartitions(pool, days, {
    untilUnixMs: at('2026-01-13T00:00'),
    mayDrop: async (_client, { name }) => {
      candidates.push(name);
      return name !== 'log_until_20260112';
    },
  });
  expect(dropped).toBe(2);
  expect(candidates).toEqual(['log_until_20260111', 'log_until_20260112', 'log_until_20260113']);
  expect(await names()).toEqual(['log_until_20260112', 'log_until_20260114']);
});

it('does not drop a partition if `mayDrop` fails', async () => {
  await make(days, '2026-01-10T12:00', 0);
  const dropping = dropPartitions(pool, days, {
    untilUnixMs: at('2026-02-01T00:00'),
    mayDrop: () => Promise.reject(new Error('cannot be recorded')),
  });
  await expect(dropping).rejects.toThrow('cannot be recorded');
  expect(await names()).toHaveLength(1);
});

/** Runs `work` while another connection holds a lock. */
async function whileLocked(lock: string, work: () => Promise<void>): Promise<void> {
  const other = await pool.connect();
  try {
    await beginIdleTransaction(other);
    await other.query(lock);
    await work();
    await other.query('commit');
  } finally {
    other.release(true);
  }
}

describe('with a long-running reader of the table', () => {
  const READ = 'select from log';
  const FEBRUARY = { untilUnixMs: at('2026-02-01T00:00') };

  it('stops at the first partition that it cannot drop, after several attempts, and drops all of them next time', async () => {
    await make(days, '2026-01-10T12:00', 3);
    const candidates: string[] = [];
    const mayDrop = async (_client: unknown, { name }: { readonly name: string }) =>
      candidates.push(name) > 0;
    await whileLocked(READ, async () => {
      expect(await dropPartitions(pool, days, { ...FEBRUARY, mayDrop })).toBe(0);
      expect(candidates).toEqual(Array.from({ length: 5 }, () => 'log_until_20260111'));
    });
    expect(await dropPartitions(pool, days, FEBRUARY)).toBe(4);
  });

  it('lets writers proceed while it waits for the reader', async () => {
    await make(days, '2026-01-10T12:00', 3);
    const writer = await pool.connect();
    // A writer that is queued longer fails. The reader ends only after all writes.
    await writer.query(`set lock_timeout = '20s'`);
    try {
      await whileLocked(READ, async () => {
        let isDropping = true;
        const dropping = dropPartitions(pool, days, FEBRUARY).finally(() => (isDropping = false));
        let written = 0;
        while (isDropping) {
          await writer.query(`insert into log values ('2026-01-13T12:00Z', 'x')`);
          written += 1;
        }
        expect(await dropping).toBe(0);
        expect(written).toBeGreaterThan(0);
      });
    } finally {
      writer.release(true);
    }
  });

  it('fails to create partitions, and creates them once the reader has finished', async () => {
    await make(days, '2026-01-10T12:00', 0);
    await whileLocked(READ, async () => {
      await expect(make(days, '2026-01-11T12:00', 0)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await make(days, '2026-01-11T12:00', 0)).toBe(1);
  });

  it('drops partitions when the reader finishes between two attempts', async () => {
    await make(days, '2026-01-10T12:00', 0);
    let dropping: Promise<number> | undefined;
    let finishReader = () => {};
    const readerHasFinished = new Promise<void>((resolve) => (finishReader = resolve));
    await whileLocked(READ, async () => {
      let attempts = 0;
      await new Promise<void>((secondAttempt) => {
        const mayDrop = async () => {
          attempts += 1;
          if (attempts === 2) {
            secondAttempt();
            await readerHasFinished;
          }
          return true;
        };
        dropping = dropPartitions(pool, days, { ...FEBRUARY, mayDrop });
      });
    });
    finishReader();
    expect(await dropping).toBe(1);
  });
});

it('skips a partition that is being vacuumed', async () => {
  await make(days, '2026-01-10T12:00', 2);
  await whileLocked('lock table log_until_20260112 in share update exclusive mode', async () => {
    expect(await dropPartitions(pool, days, { untilUnixMs: at('2026-01-13T00:00') })).toBe(2);
    expect(await names()).toEqual(['log_until_20260112']);
  });
});

it('creates and drops partitions once in concurrent processes', async () => {
  const attempts = Array.from({ length: 4 }, () => make(days, '2026-01-10T12:00', 5));
  const created = await Promise.all(attempts);
  expect(created.reduce((total, count) => total + count)).toBe(6);
  const untilUnixMs = at('2026-01-10T12:00') + 3 * DAY_MS;
  const dropped = await Promise.all(
    Array.from({ length: 4 }, () => dropPartitions(pool, days, { untilUnixMs })),
  );
  expect(dropped.reduce((total, count) => total + count)).toBe(3);
});
