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

  it('says that a database answers, to all who ask at once', async () => {
    const asked = probe(database.url);
    expect(await Promise.all([asked.answers(), asked.answers()])).toEqual([true, true]);
  });

  it('says so when it does not, and again when it does', async () => {
    const nobody = new URL(database.url);
    nobody.port = '1';
    expect(await probe(nobody.toString()).answers()).toBe(false);
  });
});
