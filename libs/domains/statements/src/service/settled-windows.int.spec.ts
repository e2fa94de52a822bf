import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gateway/base';
import { GenerationSettled, type SettledWindow } from '@gateway/contracts/events';
import { createMetrics, createSilentLogger } from '@gateway/runtime';
import { createAuditEntry, beginIdleTransaction } from '@gateway/test-support';
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
import { createLedgerReconciliation } from './reconciliation';

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
  await fixture.clock.set(NINE + 5 * MINUTE_MS);
  ({ run } = createLedgerReconciliation({
    reconciler: reconcilers.first,
    clock: fixture.clock,
    log: createSilentLogger(),
    metrics: createReconciliationMetrics(createMetrics({ processMetrics: false })),
    intervalMs: 1_000_000,
  }));
});

afterEach(() => fixture.close());

async function addCredit(organizationId: string, amount = 10_000): Promise<void> {
  await fixture.first.store.addCredit(
    {
      creditId: `crd-${organizationId}`,
      organizationId,
      amountNanoUsd: usdNano(amount),
      note: '',
    },
    createAuditEntry(),
  );
}

/** Admits and holds a generation. Returns a function that settles it. */
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

it('announces the settlements of past full hours once, by organization and hour of admission', async () => {
  await addCredit('org-a');
  await addCredit('org-b', 50);
  const late = await hold('gen-late');
  await (
    await hold('gen-1')
  )(70);
  // Costs more than the balance of org-b: the uncollected part counts as cost, not as charge.
  await (
    await hold('gen-b', 'org-b', 50)
  )(90);
  await fixture.clock.set(NINE + HOUR_MS + 5 * MINUTE_MS);
  await run();
  expect(await windows()).toEqual([]);
  await late(30);
  await (
    await hold('gen-2')
  )(11);

  // Ten minutes after the hour no running transaction can post anything before it.
  await fixture.clock.set(NINE + HOUR_MS + 10 * MINUTE_MS);
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

  await fixture.clock.set(NINE + 2 * HOUR_MS + 10 * MINUTE_MS);
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

it('announces a settlement at the full hour with the hour that starts', async () => {
  await addCredit('org-a');
  const [settleBefore, settleAtFullHour] = [await hold('gen-1'), await hold('gen-2')];
  await settleBefore(70);
  await fixture.clock.set(NINE + HOUR_MS);
  await settleAtFullHour(11);
  for (const hours of [1, 2]) {
    await fixture.clock.set(NINE + hours * HOUR_MS + 10 * MINUTE_MS);
    await run();
  }
  expect(await windows()).toMatchObject([
    { fromUnixMs: at(0), untilUnixMs: at(1), hours: [{ generations: 1n, costNanoUsd: 70n }] },
    { fromUnixMs: at(1), untilUnixMs: at(2), hours: [{ generations: 1n, costNanoUsd: 11n }] },
  ]);
});

it('follows its settlements in the log, under the same key', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  await fixture.clock.advance(2 * HOUR_MS);
  await run();
  const announced = await fixture.announced();
  expect(announced.map(({ finished, window }) => finished?.generationId ?? window?.organizationId)).toEqual([
    'gen-1',
    'org-a',
  ]);
  expect(fixture.committed).toEqual(announced);
  expect(renderWindow({ organizationId: 'org-a', from: 0, until: 0, hours: [] } as never).key).toBe('org-a');
});

it('announces a settlement with the time of its posting, which assigns it to one window', async () => {
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

it('announces an idle organization once a day, so that unexpected usage is found as well', async () => {
  await addCredit('org-a');
  for (let hours = 1; hours <= 49; hours += 1) {
    await fixture.clock.set(NINE + hours * HOUR_MS + 10 * MINUTE_MS);
    await run();
  }
  expect(await windows()).toEqual([
    { organizationId: 'org-a', fromUnixMs: at(0), untilUnixMs: at(24), hours: [] },
    { organizationId: 'org-a', fromUnixMs: at(24), untilUnixMs: at(48), hours: [] },
  ]);
});

it('announces nothing for an organization without postings, then starts with the hour of the first', async () => {
  await expect(hold('gen-refused', 'org-poor')).resolves.toBeDefined();
  expect((await fixture.auditPool.query('select from accounts')).rowCount).toBe(1);
  await fixture.clock.advance(2 * DAY_MS);
  await run();
  expect(await windows()).toEqual([]);
  await addCredit('org-poor');
  await fixture.clock.advance(DAY_MS + HOUR_MS);
  await run();
  expect(await windows()).toMatchObject([{ fromUnixMs: at(48), untilUnixMs: at(72) }]);
});

it('announces one day at a time after a pause, without gaps or overlaps', async () => {
  await addCredit('org-a');
  const costs = [5, 7, 11, 13];
  for (const [index, cost] of costs.entries()) {
    await fixture.clock.set(NINE + index * 17 * HOUR_MS);
    await (
      await hold(`gen-${index}`)
    )(cost);
  }
  await fixture.clock.set(NINE + 4 * DAY_MS);
  for (let runs = 0; runs < 8; runs += 1) await run();
  const announced = await windows();
  for (const [index, { fromUnixMs, untilUnixMs }] of announced.entries()) {
    expect(untilUnixMs - fromUnixMs).toBeLessThanOrEqual(BigInt(DAY_MS));
    expect(fromUnixMs).toBe(announced[index - 1]?.untilUnixMs ?? at(0));
  }
  expect(announced.flatMap(({ hours }) => hours.map(({ costNanoUsd }) => Number(costNanoUsd)))).toEqual(
    costs,
  );
});

it.each([
  [2, [2, 1, 0, 0, 0]],
  [1, [1, 1, 1, 0, 0]],
])('announces the next %i organizations with each run until all are done', async (limit, expected) => {
  for (const organizationId of ['org-a', 'org-b', 'org-c']) {
    await addCredit(organizationId);
    await (
      await hold(`gen-${organizationId}`, organizationId)
    )(1);
  }
  await fixture.clock.advance(2 * HOUR_MS);
  const counts = [];
  for (let runs = 0; runs < 5; runs += 1) {
    counts.push(await reconcilers.first.announceWindows(limit, renderWindow));
  }
  expect(counts).toEqual(expected);
  expect((await windows()).map(({ organizationId }) => organizationId)).toEqual(['org-a', 'org-b', 'org-c']);
});

it('announces a window again after a failed announcement', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  await fixture.clock.advance(2 * HOUR_MS);
  await expect(
    reconcilers.first.announceWindows(10, () => {
      throw new Error('cannot be announced');
    }),
  ).rejects.toThrow('cannot be announced');
  expect(await windows()).toEqual([]);
  await run();
  expect(await windows()).toHaveLength(1);
});

it('is announced by one process at a time', async () => {
  await addCredit('org-a');
  await fixture.clock.advance(2 * DAY_MS);
  const client = await fixture.second.pool.connect();
  await beginIdleTransaction(client);
  await client.query('select announce_settlement_windows(0, 1)');
  expect(await reconcilers.first.announceWindows(10, renderWindow)).toBe(0);
  await client.query('rollback');
  client.release();
  expect(await reconcilers.first.announceWindows(10, renderWindow)).toBe(1);
});

it('takes the charge of a settlement from its posting, not from its hold', async () => {
  await addCredit('org-a');
  await (
    await hold('gen-1')
  )(70);
  await fixture.auditPool.query(`update closed_holds set charged_nano_usd = 1 where hold_id = 'gen-1'`);
  await fixture.clock.advance(2 * HOUR_MS);
  await run();
  expect((await windows())[0]?.hours).toMatchObject([{ costNanoUsd: 70n, chargedNanoUsd: 70n }]);
});

it('round-trips through its message', () => {
  const { payload } = renderWindow({
    organizationId: 'org-a',
    from: NINE as never,
    until: (NINE + HOUR_MS) as never,
    hours: [],
  });
  expect(GenerationSettled.decode(payload)).toMatchObject({
    finished: undefined,
    window: { organizationId: 'org-a', fromUnixMs: at(0), untilUnixMs: at(1), hours: [] },
  });
});
