import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gateway/base';
import { GenerationSettled, type SettledWindow } from '@gateway/contracts/events';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { beginPatiently } from '@gateway/test-support';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { renderWindow } from './messages';
import { createPostgresReconciler } from '../adapters/postgres/reconciler';
import type { LedgerReconciler } from '../core/ports';
import { createReconciliationMetrics } from './metrics';
import { createReconciliation } from './reconciliation';

const NINE = Date.UTC(2026, 10, 20, 9);

let fixture: LedgerFixture;
let reconcilers: { readonly first: LedgerReconciler; readonly second: LedgerReconciler };
let run: () => Promise<void>;

beforeEach(async () => {
  fixture = await createLedgerFixture();
  const { appender, clock } = fixture;
  reconcilers = {
    first: createPostgresReconciler({ pool: fixture.first.pool, appender, clock }),
    second: createPostgresReconciler({ pool: fixture.second.pool, appender, clock }),
  };
  fixture.clock.set(NINE + 5 * MINUTE_MS);
  ({ run } = createReconciliation({
    reconciler: reconcilers.first,
    clock: fixture.clock,
    log: createSilentLogger(),
    metrics: createReconciliationMetrics(createMetrics({ processMetrics: false })),
    intervalMs: 1_000_000,
  }));
});

afterEach(() => fixture.close());

async function addCredit(organizationId: string, amount = 10_000): Promise<void> {
  await fixture.first.store.addCredit({
    creditId: `crd-${organizationId}`,
    organizationId,
    amountNanoUsd: usdNano(amount),
    note: '',
  });
}

/** Admitted and held; settled by what it returns. */
async function hold(generationId: string, organizationId = 'org-a', amount = 100) {
  const at = fixture.clock.now();
  await fixture.first.store.holdCredit([makeHold({ holdId: generationId, organizationId, amount, at })]);
  return (cost: number) =>
    fixture.second.store.settleGenerations(
      [makeFinished({ generationId, organizationId, cost, at })],
      announce,
    );
}

async function windows(): Promise<SettledWindow[]> {
  return (await fixture.announced()).flatMap(({ window }) => window ?? []);
}

const at = (hours: number) => BigInt(NINE + hours * HOUR_MS);

it('tells what was settled in whole hours that are over, by organization and hour of admission, once', async () => {
  await addCredit('org-a');
  await addCredit('org-b', 50);
  const late = await hold('gen-late');
  await (
    await hold('gen-1')
  )(70);
  // Costs more than org-b has: what is not collected is cost and no charge.
  await (
    await hold('gen-b', 'org-b', 50)
  )(90);
  fixture.clock.set(NINE + HOUR_MS + 5 * MINUTE_MS);
  await run();
  expect(await windows()).toEqual([]);
  await late(30);
  await (
    await hold('gen-2')
  )(11);

  // Ten minutes after the hour nothing that is under way posts anything before it.
  fixture.clock.set(NINE + HOUR_MS + 10 * MINUTE_MS);
  await run();
  await run();
  const hour = (hours: number, generations: bigint, cost: bigint, charged = cost) => ({
    hourUnixMs: at(hours),
    generations,
    costNanoUsd: cost,
    chargedNanoUsd: charged,
  });
  const first = [
    { organizationId: 'org-a', fromUnixMs: at(0), untilUnixMs: at(1), hours: [hour(0, 1n, 70n)] },
    { organizationId: 'org-b', fromUnixMs: at(0), untilUnixMs: at(1), hours: [hour(0, 1n, 90n, 50n)] },
  ];
  expect(await windows()).toEqual(first);

  fixture.clock.set(NINE + 2 * HOUR_MS + 10 * MINUTE_MS);
  await run();
  expect(await windows()).toEqual([
    ...first,
    {
      organizationId: 'org-a',
      fromUnixMs: at(1),
      untilUnixMs: at(2),
      hours: [hour(0, 1n, 30n), hour(1, 1n, 11n)],
    },
  ]);
});

it('tells what is settled on the stroke of the hour with the hour that begins, and only then', async () => {
  await addCredit('org-a');
  const [settleBefore, settleOnTheStroke] = [await hold('gen-1'), await hold('gen-2')];
  await settleBefore(70);
  fixture.clock.set(NINE + HOUR_MS);
  await settleOnTheStroke(11);
  for (const hours of [1, 2]) {
    fixture.clock.set(NINE + hours * HOUR_MS + 10 * MINUTE_MS);
    await run();
  }
  expect(await windows()).toMatchObject([
    { fromUnixMs: at(0), untilUnixMs: at(1), hours: [{ generations: 1n, costNanoUsd: 70n }] },
    { fromUnixMs: at(1), untilUnixMs: at(2), hours: [{ generations: 1n, costNanoUsd: 11n }] },
  ]);
});

it('comes behind every settlement that it is about, under the same key', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  fixture.clock.advance(2 * HOUR_MS);
  await run();
  const announced = await fixture.announced();
  expect(announced.map(({ finished, window }) => finished?.generationId ?? window?.organizationId)).toEqual([
    'gen-1',
    'org-a',
  ]);
  expect(fixture.committed).toEqual(announced);
  expect(
    renderWindow({ organizationId: 'org-a', fromUnixMs: 0, untilUnixMs: 0, hours: [] } as never).key,
  ).toBe('org-a');
});

it('announces a settlement with the very time of its posting, by which it is in one window', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  const [settled] = await fixture.announced();
  const { rows } = await fixture.auditPool.query<{ posted: bigint }>(
    `select posted_unix_ms as posted from postings where reference = 'gen-1' and kind = 'settlement'`,
  );
  expect(settled?.settledUnixMs).toBe(rows[0]?.posted);
});

it('tells of an organization that rests once a day, so that what nobody settled is found there too', async () => {
  await addCredit('org-a');
  for (let hours = 1; hours <= 49; hours += 1) {
    fixture.clock.set(NINE + hours * HOUR_MS + 10 * MINUTE_MS);
    await run();
  }
  expect(await windows()).toEqual([
    { organizationId: 'org-a', fromUnixMs: at(0), untilUnixMs: at(24), hours: [] },
    { organizationId: 'org-a', fromUnixMs: at(24), untilUnixMs: at(48), hours: [] },
  ]);
});

it('tells nothing of an organization that never had a posting, then begins with the hour of its first', async () => {
  await expect(hold('gen-refused', 'org-poor')).resolves.toBeDefined();
  expect((await fixture.auditPool.query('select from accounts')).rowCount).toBe(1);
  fixture.clock.advance(2 * DAY_MS);
  await run();
  expect(await windows()).toEqual([]);
  await addCredit('org-poor');
  fixture.clock.advance(DAY_MS + HOUR_MS);
  await run();
  expect(await windows()).toMatchObject([{ fromUnixMs: at(48), untilUnixMs: at(72) }]);
});

it('tells a day at a time after a long rest, and nothing is left out or told twice', async () => {
  await addCredit('org-a');
  const costs = [5, 7, 11, 13];
  for (const [index, cost] of costs.entries()) {
    fixture.clock.set(NINE + index * 17 * HOUR_MS);
    await (
      await hold(`gen-${index}`)
    )(cost);
  }
  fixture.clock.set(NINE + 4 * DAY_MS);
  for (let runs = 0; runs < 8; runs += 1) await run();
  const told = await windows();
  for (const [index, { fromUnixMs, untilUnixMs }] of told.entries()) {
    expect(untilUnixMs - fromUnixMs).toBeLessThanOrEqual(BigInt(DAY_MS));
    expect(fromUnixMs).toBe(told[index - 1]?.untilUnixMs ?? at(0));
  }
  expect(told.flatMap(({ hours }) => hours.map(({ costNanoUsd }) => Number(costNanoUsd)))).toEqual(costs);
});

it.each([
  [2, [2, 1, 0, 0, 0]],
  [1, [1, 1, 1, 0, 0]],
])('takes the next %i with each run, and tells all of them in the end', async (limit, expected) => {
  for (const organizationId of ['org-a', 'org-b', 'org-c']) {
    await addCredit(organizationId);
    await (
      await hold(`gen-${organizationId}`, organizationId)
    )(1);
  }
  fixture.clock.advance(2 * HOUR_MS);
  const told = [];
  for (let runs = 0; runs < 5; runs += 1) {
    told.push(await reconcilers.first.announceWindows(limit, renderWindow));
  }
  expect(told).toEqual(expected);
  expect((await windows()).map(({ organizationId }) => organizationId)).toEqual(['org-a', 'org-b', 'org-c']);
});

it('tells again what could not be announced', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  fixture.clock.advance(2 * HOUR_MS);
  await expect(
    reconcilers.first.announceWindows(10, () => {
      throw new Error('cannot be announced');
    }),
  ).rejects.toThrow('cannot be announced');
  expect(await windows()).toEqual([]);
  await run();
  expect(await windows()).toHaveLength(1);
});

it('is told by one process at a time', async () => {
  await addCredit('org-a');
  fixture.clock.advance(2 * DAY_MS);
  const client = await fixture.second.pool.connect();
  await beginPatiently(client);
  await client.query('select tell_settlements(0, 1)');
  expect(await reconcilers.first.announceWindows(10, renderWindow)).toBe(0);
  await client.query('rollback');
  client.release();
  expect(await reconcilers.first.announceWindows(10, renderWindow)).toBe(1);
});

it('finds the money of a settlement in its posting, not in the hold that says so too', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  await fixture.auditPool.query(`update closed_holds set charged_nano_usd = 1 where hold_id = 'gen-1'`);
  fixture.clock.advance(2 * HOUR_MS);
  await run();
  expect((await windows())[0]?.hours).toMatchObject([{ costNanoUsd: 70n, chargedNanoUsd: 70n }]);
});

it('is a message that decodes to what was rendered', () => {
  const { payload } = renderWindow({
    organizationId: 'org-a',
    fromUnixMs: NINE as never,
    untilUnixMs: (NINE + HOUR_MS) as never,
    hours: [],
  });
  expect(GenerationSettled.decode(payload)).toMatchObject({
    finished: undefined,
    window: { organizationId: 'org-a', fromUnixMs: at(0), untilUnixMs: at(1), hours: [] },
  });
});
