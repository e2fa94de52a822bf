import { applyMigrations, createPool, isDatabaseUnavailable } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool, PoolClient } from 'pg';
import { createAuthPrisma, type AuthPrisma, type AuthTransaction } from './client';
import { AUTH_SCHEMA, authSchema } from './schema';

let database: TestDatabase;
let pool: Pool;
let prisma: AuthPrisma;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = database.url;
  const short = { acquireTimeoutMs: 300, queryTimeoutMs: 1_500 };
  pool = createPool({ url, schema: AUTH_SCHEMA, applicationName: 'test', maxConnections: 2, ...short });
  await applyMigrations(pool, authSchema);
  prisma = createAuthPrisma(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('a transaction of a busy database fails as unavailable, not as a fault of ours', () => {
  const others: PoolClient[] = [];
  afterEach(() => others.splice(0).forEach((client) => client.release(true)));

  async function useConnections(count: number): Promise<PoolClient> {
    while (others.length < count) others.push(await pool.connect());
    return others[0] as PoolClient;
  }
  async function errorOf(work: Promise<unknown>): Promise<{ message: string }> {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isDatabaseUnavailable(error)).toBe(true);
    return error as Error;
  }
  const read = (transaction: AuthTransaction) => transaction.$queryRaw`select 1`;

  it('if it gets no connection from the pool', async () => {
    await useConnections(2);
    expect((await errorOf(prisma.$transaction(read))).message).toContain('timeout exceeded');
  });

  it('if it waits too long for a lock', async () => {
    const other = await useConnections(1);
    await other.query('begin; lock table organizations in access exclusive mode');
    const counting = prisma.$transaction((transaction) => transaction.organization.count());
    expect((await errorOf(counting)).message).toContain('statement timeout');
  });

  it('if Prisma ends its wait for a connection', async () => {
    await useConnections(2);
    const { message } = await errorOf(prisma.$transaction(read, { maxWait: 50 }));
    expect(message).toContain('Unable to start a transaction');
  });

  it('if Prisma ends it', async () => {
    const slow = async (transaction: AuthTransaction) => {
      await transaction.$queryRaw`select pg_sleep(0.1)::text`;
      await read(transaction);
    };
    expect((await errorOf(prisma.$transaction(slow, { timeout: 50 }))).message).toContain(
      'expired transaction',
    );
  });
});
