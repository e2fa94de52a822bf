import { announceSeed, createTestDatabase, seededRandom, type TestDatabase } from '@gateway/test-support';
import { expectChargedAsTold, expectClosedBooks, nothingOpen } from './testing/books';
import { startCrashWorld, type CrashWorld } from './testing/crash-world';
import { startStorm } from './testing/storm';

jest.setTimeout(120_000);

const REQUESTS = 50;

describe('SIGTERM during fifty requests', () => {
  let database: TestDatabase;
  let world: CrashWorld;

  beforeAll(async () => {
    database = await createTestDatabase();
    world = await startCrashWorld({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await world?.close();
    await database?.drop();
  });

  it('finishes them all, ends with 0 and leaves nothing open', () =>
    announceSeed(async (seed) => {
      const random = seededRandom(seed);
      const storm = startStorm(world.gateway, random, { requests: REQUESTS, name: `storm ${seed}` });
      // Only what has arrived can be finished: a connection that was not taken yet is refused by a stop.
      await world.emulator.until(({ received }) => received >= REQUESTS);
      await world.stopCleanly();
      const outcomes = (await storm.outcomes).map(({ outcome }) => outcome);
      expect(outcomes.filter(({ kind }) => kind !== 'finished')).toEqual([]);

      expect(await nothingOpen(world.pool)).toBe(true);
      await expectClosedBooks(world.pool);
      await expectChargedAsTold(world.pool, outcomes);
    }));
});
