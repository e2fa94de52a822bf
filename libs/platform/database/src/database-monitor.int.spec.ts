import { createTestDatabase, eventually, type TestDatabase } from '@gateway/test-support';
import { createDatabaseMonitor, type DatabaseMonitor } from './database-monitor';
import { createPool } from './pool';

describe('the monitor of a database', () => {
  let database: TestDatabase;
  let monitors: DatabaseMonitor[] = [];
  const watch = (url: string) => {
    const created = createDatabaseMonitor({ url, schema: 'public', pools: [] });
    monitors.push(created);
    return created;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(monitors.map((created) => created.end()));
    monitors = [];
  });
  afterAll(() => database.drop());

  it('reports an available database from its first check on', async () => {
    const monitor = watch(database.url);
    expect(await Promise.all([monitor.isAvailable(), monitor.isAvailable()])).toEqual([true, true]);
    expect(monitor.state()).toBe('available');
  });

  it('reports an unreachable database', async () => {
    const unreachable = new URL(database.url);
    unreachable.port = '1';
    const monitor = watch(unreachable.toString());
    expect(await monitor.isAvailable()).toBe(false);
    expect(monitor.state()).toBe('unreachable');
  });

  it('reports a read-only database, unless its URL accepts one', async () => {
    const pool = createPool({
      url: database.url,
      schema: 'public',
      applicationName: 'test',
      maxConnections: 1,
    });
    const set = (value: string) =>
      pool.query(`alter database ${database.name} set default_transaction_read_only = ${value}`);
    await set('on');
    const [strict, tolerant] = [watch(database.url), watch(`${database.url}?target_session_attrs=any`)];
    expect([await strict.isAvailable(), await tolerant.isAvailable()]).toEqual([false, true]);
    expect(strict.state()).toBe('read_only');
    await pool.query('set default_transaction_read_only = off');
    await set('off');
    await eventually('the database is available', async () => (await strict.isAvailable()) || undefined);
    await pool.end();
  });
});
