import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import { createDatabaseProbe, type DatabaseProbe } from './database-probe';

describe('the database probe', () => {
  let database: TestDatabase;
  let probes: DatabaseProbe[] = [];
  const probe = (url: string) => {
    const created = createDatabaseProbe({ url, schema: 'public' });
    probes.push(created);
    return created;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(probes.map((created) => created.end()));
    probes = [];
  });
  afterAll(() => database.drop());

  it('reports an available database to concurrent callers', async () => {
    const created = probe(database.url);
    expect(await Promise.all([created.isAvailable(), created.isAvailable()])).toEqual([true, true]);
  });

  it('reports an unreachable database', async () => {
    const unreachable = new URL(database.url);
    unreachable.port = '1';
    expect(await probe(unreachable.toString()).isAvailable()).toBe(false);
  });
});
