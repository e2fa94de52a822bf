import { eventually } from '@gateway/test-support';
import { ask, MODEL } from './testing/ask';
import { expectClosedBooks, rowsOf } from './testing/books';
import { startFleet, type Fleet } from './testing/fleet';
import { stallRows } from './testing/stalled-rows';

jest.setTimeout(60_000);

/**
 * The deadline of a hold here is over ten minutes away: what is voided in
 * these tests is voided by its edge, not by the reaper.
 */
describe('a hold that nobody waits for any more', () => {
  let fleet: Fleet;
  let hungUp = 0;

  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.close());

  /** Each was taken and voided, or given up before it could be taken. */
  async function expectAllGivenBack(count: number): Promise<void> {
    await eventually('every hold is voided', async () => {
      const closed = await rowsOf(
        fleet.pool,
        `select from billing_ledger.holds where state in ('voided', 'abandoned')`,
      );
      return closed.length === count ? true : undefined;
    });
    await expectClosedBooks(fleet.pool);
    expect(fleet.emulator.stats().received).toBe(0);
  }

  const stallHolds = () => stallRows(fleet.databaseUrl, 'select from billing_ledger.accounts for update');

  it.each([undefined, 'cancelled while held'])(
    'is voided when its caller cancelled while it was taken (Idempotency-Key: %s)',
    async (key) => {
      const accounts = await stallHolds();
      const hangUp = new AbortController();
      const asked = fetch(`${fleet.edges[0]}/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${fleet.apiKey}`,
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
        signal: hangUp.signal,
      }).catch(() => 'cancelled');
      await accounts.someoneWaits();
      hangUp.abort();
      expect(await asked).toBe('cancelled');
      hungUp += 1;
      await eventually('the edge has noticed', async () => {
        const noticed = fleet.logLines.filter((line) => line.includes('"status":499'));
        return noticed.length === hungUp ? true : undefined;
      });
      await accounts.release();
      await expectAllGivenBack(hungUp);
      expect(
        await rowsOf(
          fleet.pool,
          `select scope from billing_ledger.idempotency_claims where state <> 'released'`,
        ),
      ).toEqual([]);
    },
  );

  it('is voided when the ledger comes round to it after its edge gave up', async () => {
    const accounts = await stallHolds();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        ask(
          { baseUrl: fleet.edges[index % 2 === 0 ? 0 : 1], apiKey: fleet.apiKey },
          {
            prompt: 'Hello',
            stream: index % 3 === 0,
            ...(index % 4 === 0 ? { idempotencyKey: `late ${index}` } : {}),
          },
        ),
      ),
    );
    for (const outcome of outcomes) {
      expect(outcome).toEqual({ kind: 'failed', status: 503, code: 'no_capacity', retryAfter: '10' });
    }
    await accounts.release();
    await expectAllGivenBack(hungUp + outcomes.length);
    // Its money is free again, and so are its keys.
    const again = await ask(
      { baseUrl: fleet.edges[0], apiKey: fleet.apiKey },
      { prompt: 'Hello', stream: true, idempotencyKey: 'late 0' },
    );
    expect(again).toMatchObject({ kind: 'finished', replayed: false });
  });
});
