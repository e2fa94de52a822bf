import { HOUR_MS, utcDay } from '@gateway/base';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { createAuditEntry } from '@gateway/test-support';
import { NO_SPEND, type StatementStore } from '../../core/ports';
import { createPostgresStatementStore } from './statement-store';

let fixture: LedgerFixture;
let statements: StatementStore;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  statements = createPostgresStatementStore({ pool: fixture.first.pool, clock: fixture.clock });
});
afterAll(() => fixture.close());

let counter = 0;
const add = async (organizationId: string, amount: number) => {
  counter += 1;
  await fixture.first.store.addCredit(
    {
      creditId: `crd-${String(counter).padStart(4, '0')}`,
      organizationId,
      amountNanoUsd: usdNano(amount),
      note: `invoice ${counter}`,
    },
    createAuditEntry(),
  );
};

const spend = async (organizationId: string, cost: number) => {
  counter += 1;
  const id = `gen-${counter}`;
  const at = fixture.clock.now();
  await fixture.first.store.holdCredit([makeHold({ holdId: id, organizationId, amount: cost, at })]);
  await fixture.first.store.settleGenerations(
    [makeFinished({ generationId: id, organizationId, cost, at })],
    announce,
  );
};

const at = (time: string) => fixture.clock.set(Date.parse(time));

/** Three days with movements in November, one of them at both ends of the day. */
async function history(organizationId: string): Promise<void> {
  await at('2026-11-03T00:00:00.000Z');
  await add(organizationId, 1_000);
  await at('2026-11-03T23:59:59.999Z');
  await spend(organizationId, 100);
  await at('2026-11-10T12:00:00.000Z');
  await spend(organizationId, 30);
  await spend(organizationId, 7);
  await at('2026-11-30T22:00:00.000Z');
  await add(organizationId, 5);
}

const NOVEMBER = [
  { day: '2026-11-30', addedNanoUsd: 5n, usedNanoUsd: 0n, openingNanoUsd: 863n, closingNanoUsd: 868n },
  { day: '2026-11-10', addedNanoUsd: 0n, usedNanoUsd: -37n, openingNanoUsd: 900n, closingNanoUsd: 863n },
  { day: '2026-11-03', addedNanoUsd: 1_000n, usedNanoUsd: -100n, openingNanoUsd: 0n, closingNanoUsd: 900n },
];

it('sums each day, including the current one, and continues the balance from the month', async () => {
  await history('org-days');
  expect((await statements.readDays('org-days', '2026-11')).days).toMatchObject(NOVEMBER);
});

it('has the same days in the hour after midnight, when two of them are not summed yet', async () => {
  await history('org-midnight');
  await at('2026-12-01T00:20:00.000Z');
  await spend('org-midnight', 8);
  expect((await statements.readDays('org-midnight', '2026-11')).days).toMatchObject(NOVEMBER);
  expect((await statements.readDays('org-midnight', '2026-12')).days).toMatchObject([
    { day: '2026-12-01', usedNanoUsd: -8n, openingNanoUsd: 868n, closingNanoUsd: 860n },
  ]);
});

it('adds up to the month, and has what was spent on each day, at every hour of the following days', async () => {
  await history('org-hours');
  const spent = new Map<string, bigint>();
  for (let hours = 0; hours < 50; hours += 1) {
    await fixture.clock.advance(HOUR_MS);
    await spend('org-hours', 2);
    const day = utcDay(fixture.clock.now());
    spent.set(day, (spent.get(day) ?? 0n) - 2n);
    for (const month of ['2026-11', '2026-12']) {
      const { sums, days } = await statements.readDays('org-hours', month);
      // December has no day before its first movement.
      expect(days.at(-1)?.openingNanoUsd ?? sums.openingNanoUsd).toBe(sums.openingNanoUsd);
      expect(days[0]?.closingNanoUsd ?? sums.openingNanoUsd).toBe(sums.closingNanoUsd);
      const recent = days.filter((one) => spent.has(one.day));
      const expected = [...spent].filter(([one]) => one.startsWith(month)).reverse();
      expect(recent.map(({ day: one, usedNanoUsd }) => [one, usedNanoUsd])).toEqual(expected);
    }
  }
});

it('lists the lines of one day with its balances, in pages', async () => {
  await history('org-day');
  const query = { organizationId: 'org-day', month: '2026-11', day: '2026-11-10', oldestFirst: false };
  const { lines } = await statements.readStatement({ ...query, after: undefined, limit: 10 });
  expect(lines.map((line) => [line.amountNanoUsd, line.balanceNanoUsd])).toEqual(
    expect.arrayContaining([
      [-7n, expect.anything()],
      [-30n, expect.anything()],
    ]),
  );
  expect([lines.length, lines[0]?.balanceNanoUsd]).toEqual([2, 863n]);
  const [first] = lines;
  if (!first) throw new Error('the day has no lines');
  const after = {
    posted: first.posted,
    reference: first.reference,
    kind: first.kind,
    balanceNanoUsd: first.balanceNanoUsd - first.amountNanoUsd,
  };
  const next = await statements.readStatement({ ...query, after, limit: 10 });
  expect(next.lines).toEqual([lines[1]]);
  expect(utcDay(first.posted)).toBe('2026-11-10');
  const nothing = await statements.readStatement({
    ...{ ...query, day: '2026-11-11', after: undefined, limit: 10 },
  });
  expect(nothing.lines).toEqual([]);
});

it('lists the credits and corrections of a month without its settlements, in pages', async () => {
  await history('org-credits');
  const correction = { organizationId: 'org-credits', amountNanoUsd: usdNano(4), note: 'twice' };
  await statements.previewCorrection({ ...correction, correctionId: 'crd-z' });
  await statements.correctCredit({ ...correction, correctionId: 'crd-z' }, createAuditEntry());
  await at('2026-12-02T00:00:00.000Z');
  await add('org-credits', 9);
  const query = { organizationId: 'org-credits', month: '2026-11' };
  const all = await statements.listCredits({ ...query, after: undefined, limit: 10 });
  expect(all.map(({ amountNanoUsd }) => amountNanoUsd)).toEqual([-4n, 5n, 1_000n]);
  const [first] = all;
  const rest = await statements.listCredits({ ...query, after: first, limit: 1 });
  expect(rest).toEqual([all[1]]);
  const december = await statements.listCredits({ ...query, month: '2026-12', after: undefined, limit: 10 });
  expect(december.map(({ posted }) => posted)).toEqual([Date.parse('2026-12-02')]);
});

it('lists balances with holds in the requested order, and zero without an account', async () => {
  await at('2026-12-01T12:00:00.000Z');
  await add('org-balance-a', 1_000);
  await spend('org-balance-a', 300);
  await add('org-balance-b', 5);
  await fixture.first.store.holdCredit([
    makeHold({ holdId: 'gen-held', organizationId: 'org-balance-b', amount: 2, at: fixture.clock.now() }),
  ]);
  expect(await statements.readBalances(['org-balance-b', 'org-none', 'org-balance-a'])).toEqual([
    { organizationId: 'org-balance-b', balanceNanoUsd: usdNano(5) },
    { organizationId: 'org-none', balanceNanoUsd: 0n },
    { organizationId: 'org-balance-a', balanceNanoUsd: usdNano(700) },
  ]);
  const low = await statements.listLowBalances(usdNano(700), 200);
  expect(low).toContain('org-balance-b');
  expect(low).not.toContain('org-balance-a');
  expect(await statements.listLowBalances(usdNano(701), 200)).toContain('org-balance-a');
});

it('reads what an organization, its projects and keys have spent in each period, and what they hold', async () => {
  const organizationId = 'org-projects';
  await at('2026-11-03T12:00:00.000Z');
  await add(organizationId, 1_000);
  const holdOf = (holdId: string, amount: number, projectId: string) =>
    makeHold({ holdId, organizationId, amount, at: fixture.clock.now(), projectId });
  const spendOf = async (id: string, cost: number, projectId: string) => {
    await fixture.first.store.holdCredit([holdOf(id, cost, projectId)]);
    const finished = makeFinished({ generationId: id, organizationId, cost, at: fixture.clock.now() });
    await fixture.first.store.settleGenerations([finished], announce);
  };
  await spendOf('gen-project-1', 100, 'proj-a');
  // A Sunday and the Monday after it.
  await at('2026-12-06T12:00:00.000Z');
  await spendOf('gen-project-2', 30, 'proj-a');
  await at('2026-12-07T12:00:00.000Z');
  await spendOf('gen-project-3', 7, 'proj-a');
  await fixture.first.store.holdCredit([holdOf('gen-project-4', 5, 'proj-a')]);
  const owners = [
    { scope: 'project', ownerId: 'proj-none' },
    { scope: 'project', ownerId: 'proj-a' },
    { scope: 'key', ownerId: 'key-a' },
    { scope: 'organization', ownerId: '' },
  ] as const;
  expect(await statements.readBudgetSpend(organizationId, owners)).toEqual([
    NO_SPEND,
    { todayNanoUsd: 7n, thisWeekNanoUsd: 7n, thisMonthNanoUsd: 37n, totalNanoUsd: 137n, heldNanoUsd: 5n },
    { todayNanoUsd: 7n, thisWeekNanoUsd: 7n, thisMonthNanoUsd: 37n, totalNanoUsd: 137n, heldNanoUsd: 5n },
    { todayNanoUsd: 7n, thisWeekNanoUsd: 7n, thisMonthNanoUsd: 37n, totalNanoUsd: 137n, heldNanoUsd: 5n },
  ]);
});

describe('for an organization without an account', () => {
  const organizationId = 'org-none';
  const inMonth = { organizationId, month: '2026-11', after: undefined, limit: 10 };
  const correction = { correctionId: 'crd-none', organizationId, amountNanoUsd: usdNano(1), note: '' };
  /** Every method, so that none calls a function of the ledger that another change has given other parameters. */
  const results: { readonly [Method in keyof StatementStore]: () => Promise<unknown> } = {
    readBalances: () => expect(statements.readBalances([organizationId])).resolves.toHaveLength(1),
    listLowBalances: () =>
      expect(statements.listLowBalances(usdNano(1), 200)).resolves.not.toContain(organizationId),
    readBudgetSpend: () => expect(statements.readBudgetSpend(organizationId, [])).resolves.toEqual([]),
    readWindowSpend: () =>
      expect(
        statements.readWindowSpend(organizationId, [{ scope: 'organization', ownerId: '' }], [24]),
      ).resolves.toEqual([[{ hours: 24, spentNanoUsd: 0n, heldNanoUsd: 0n }]]),
    listEndUserSpend: () =>
      expect(
        statements.listEndUserSpend({
          ...{ organizationId, keyId: 'key-a', period: 'day', hours: undefined, limit: 10 },
        }),
      ).resolves.toEqual([]),
    listEntries: () => expect(statements.listEntries(organizationId, 'gen-none')).resolves.toEqual([]),
    readStatement: () =>
      expect(
        statements.readStatement({ ...inMonth, day: undefined, oldestFirst: true }),
      ).resolves.toMatchObject({ lines: [] }),
    readDays: () =>
      expect(statements.readDays(organizationId, '2026-11')).resolves.toMatchObject({ days: [] }),
    listCredits: () => expect(statements.listCredits(inMonth)).resolves.toEqual([]),
    readMonths: () => expect(statements.readMonths(organizationId)).resolves.toBeDefined(),
    previewCorrection: () => expect(statements.previewCorrection(correction)).resolves.toBeDefined(),
    correctCredit: () =>
      expect(
        statements.correctCredit({ ...correction, correctionId: 'crd-never' }, createAuditEntry()),
      ).resolves.toEqual({ kind: 'unknown' }),
    readReconciliation: () => expect(statements.readReconciliation()).resolves.toBeDefined(),
  };

  it.each(Object.entries(results))('%s returns nothing and does not fail', async (_method, result) => {
    await result();
  });
});
