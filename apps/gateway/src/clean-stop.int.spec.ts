import { announceSeed, createTestDatabase, seededRandom, type TestDatabase } from '@gateway/test-support';
import { expectExactCharges, expectEverythingSettled, nothingPending } from './testing/ledger-checks';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';
import { startBurst } from './testing/request-burst';

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

  it('finishes them all, exits with code 0 and leaves no pending work', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const burst = startBurst(testEnv.gateway, random, { requests: REQUESTS, name: `burst ${seed}` });
      // Only received requests can be finished: a stop refuses connections that were not accepted yet.
      await testEnv.emulator.until(({ received }) => received >= REQUESTS);
      await testEnv.stopCleanly();
      const outcomes = (await burst.outcomes).map(({ outcome }) => outcome);
      expect(outcomes.filter(({ kind }) => kind !== 'finished')).toEqual([]);

      expect(await nothingPending(testEnv.pool)).toBe(true);
      await expectEverythingSettled(testEnv.pool);
      await expectExactCharges(testEnv.pool, outcomes);
    }));
});
