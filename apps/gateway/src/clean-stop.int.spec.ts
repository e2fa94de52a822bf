import { announceSeed, createTestDatabase, seededRandom, type TestDatabase } from '@gateway/test-support';
import { expectChargedAsTold, expectClosedBooks, nothingOpen } from './testing/books';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { startStorm } from './testing/storm';

jest.setTimeout(120_000);

const REQUESTS = 50;

describe('SIGTERM during fifty requests', () => {
  let database: TestDatabase;
  let testEnv: CrashTestEnv;

  beforeAll(async () => {
    database = await createTestDatabase();
    testEnv = await startCrashTestEnv({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await testEnv?.close();
    await database?.drop();
  });

  it('finishes them all, ends with 0 and leaves nothing open', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const storm = startStorm(testEnv.gateway, random, { requests: REQUESTS, name: `storm ${seed}` });
      // Only what has arrived can be finished: a connection that was not taken yet is refused by a stop.
      await testEnv.emulator.until(({ received }) => received >= REQUESTS);
      await testEnv.stopCleanly();
      const outcomes = (await storm.outcomes).map(({ outcome }) => outcome);
      expect(outcomes.filter(({ kind }) => kind !== 'finished')).toEqual([]);

      expect(await nothingOpen(testEnv.pool)).toBe(true);
      await expectClosedBooks(testEnv.pool);
      await expectChargedAsTold(testEnv.pool, outcomes);
    }));
});
