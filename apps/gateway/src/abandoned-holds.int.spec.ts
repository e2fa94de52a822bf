import { eventually } from '@gateway/test-support';
import { complete, MODEL } from './testing/chat-completion';
import { expectEverythingSettled, rowsOf } from './testing/ledger-checks';
import { startFleet, type Fleet } from './testing/fleet';
import { lockRows } from './testing/row-lock';

jest.setTimeout(60_000);

/**
 * Holds in these tests have a deadline of over ten minutes, so a voided hold was voided
 * by its edge, not by the reaper.
 */
describe('a hold whose request has been abandoned', () => {
  let fleet: Fleet;
  let cancelledCount = 0;

  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.close());

  /** Each hold was created and voided, or given up before its creation. */
  async function expectAllVoided(count: number): Promise<void> {
    await eventually('every hold is voided', async () => {
      const closed = await rowsOf(
        fleet.pool,
        `select from billing_ledger.holds where state in ('voided', 'abandoned')`,
      );
      return closed.length === count ? true : undefined;
    });
    await expectEverythingSettled(fleet.pool);
    expect(fleet.emulator.stats().received).toBe(0);
  }

  const blockHolds = () => lockRows(fleet.databaseUrl, 'select from billing_ledger.accounts for update');

  it.each([undefined, 'cancelled while held'])(
    'is voided when its client disconnects while it is created (Idempotency-Key: %s)',
    async (key) => {
      const accounts = await blockHolds();
      const abort = new AbortController();
      const request = fetch(`${fleet.edges[0]}/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${fleet.apiKey}`,
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
        signal: abort.signal,
      }).catch(() => 'cancelled');
      await accounts.waitForBlockedQuery();
      abort.abort();
      expect(await request).toBe('cancelled');
      cancelledCount += 1;
      await eventually('the edge has noticed the disconnect', async () => {
        const noticed = fleet.logLines.filter((line) => line.includes('"status":499'));
        return noticed.length === cancelledCount ? true : undefined;
      });
      await accounts.release();
      await expectAllVoided(cancelledCount);
      expect(
        await rowsOf(
          fleet.pool,
          `select scope from billing_ledger.idempotency_claims where state <> 'released'`,
        ),
      ).toEqual([]);
    },
  );

  it('is voided when the ledger processes it after its edge has timed out', async () => {
    const accounts = await blockHolds();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        complete(
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
    await expectAllVoided(cancelledCount + outcomes.length);
    // The credit and the idempotency keys are available again.
    const retried = await complete(
      { baseUrl: fleet.edges[0], apiKey: fleet.apiKey },
      { prompt: 'Hello', stream: true, idempotencyKey: 'late 0' },
    );
    expect(retried).toMatchObject({ kind: 'finished', replayed: false });
  });
});

describe('the hold of a request that its client cancels while the provider has the prompt', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await startFleet();
  });
  afterAll(() => fleet?.close());

  it('is open when the settlement arrives, and pays for the prompt', async () => {
    const rounds = 6;
    for (let round = 0; round < rounds; round += 1) {
      const { received } = fleet.emulator.stats();
      const abort = new AbortController();
      const request = fetch(`${fleet.edges[0]}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fleet.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: MODEL,
          stream: round % 2 === 0,
          messages: [{ role: 'user', content: `[[delay:5000]] ${'word '.repeat(500)}` }],
        }),
        signal: abort.signal,
      }).catch(() => 'cancelled');
      await eventually('the provider has the prompt', async () =>
        Promise.resolve(fleet.emulator.stats().received > received || undefined),
      );
      abort.abort();
      expect(await request).toBe('cancelled');
    }
    await eventually('all are settled', async () => {
      const settled = await rowsOf(fleet.pool, `select from billing_ledger.holds where state = 'settled'`);
      return settled.length === rounds || undefined;
    });
    await expectEverythingSettled(fleet.pool);
    // The holds are never voided, so their whole cost comes from them.
    const postings = await rowsOf<{ kind: string; covered: boolean }>(
      fleet.pool,
      `select kind, revenue_nano_usd > 0 and -held_nano_usd >= revenue_nano_usd as covered
       from billing_ledger.postings where kind in ('void', 'settlement')`,
    );
    expect(postings).toEqual(Array.from({ length: rounds }, () => ({ kind: 'settlement', covered: true })));
  });
});
