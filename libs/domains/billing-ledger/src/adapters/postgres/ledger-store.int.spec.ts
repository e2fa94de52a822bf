import { createAuditEntry } from '@gateway/test-support';
import { DAY_MS, type ConsumerProgress, type UnixMs } from '@gateway/base';
import type { GenerationSettled } from '@gateway/contracts/events';
import type { ClientBase } from 'pg';
import type { HoldRequest } from '../../core/credit/hold';
import { auditLedger } from '@gateway/ledger-audit';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  UNIT_PRICES,
  usdNano,
  type LedgerInstance,
  type LedgerFixture,
} from '../../testing/ledger-fixture';

/** The holds of an organization take the fast path if all are covered. A refused one in front forces the slow path. */
const DECISIONS = ['on the fast path', 'on the slow path'] as const;

async function holdCredit(
  decision: (typeof DECISIONS)[number],
  { store }: LedgerInstance,
  holds: readonly HoldRequest[],
) {
  if (decision === 'on the fast path') return store.holdCredit(holds);
  const refused = hold(`refused-${(counter += 1)}`, 1e12);
  const [first, ...outcomes] = await store.holdCredit([refused, ...holds]);
  expect(first?.kind).toBe('insufficient_credits');
  return outcomes;
}

let fixture: LedgerFixture;
let organizationId: string;
let at: UnixMs;
let counter = 0;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  at = fixture.clock.now();
});

afterAll(async () => {
  await fixture.close();
});

beforeEach(async () => {
  await fixture.clock.set(at);
  organizationId = `org-${(counter += 1)}`;
});

afterEach(async () => {
  expect((await auditLedger(fixture.first.pool)).faults).toEqual([]);
  // Consumers in the same process are notified of exactly what was committed.
  expect(idsOf(fixture.committed)).toEqual(idsOf(await fixture.announced()));
});

const idsOf = (settled: readonly GenerationSettled[]) =>
  settled.map(({ finished }) => finished?.generationId).sort();

const credit = (amount: number, creditId = `credit-${organizationId}`) =>
  fixture.first.store.addCredit(
    { creditId, organizationId, amountNanoUsd: usdNano(amount), note: 'test' },
    createAuditEntry(),
  );
const hold = (name: string, amount: number, more = {}) =>
  makeHold({ holdId: `${organizationId}-${name}`, organizationId, amount, at, ...more });
const finished = (name: string, cost: number, more = {}) =>
  makeFinished({ generationId: `${organizationId}-${name}`, organizationId, cost, at, ...more });
const settle = (...generations: ReturnType<typeof finished>[]) =>
  fixture.first.store.settleGenerations(generations, announce);
const ref = (name: string) => ({ holdId: `${organizationId}-${name}`, organizationId });

async function balance() {
  const { creditedNanoUsd, chargedNanoUsd, heldNanoUsd, availableNanoUsd } =
    await fixture.first.store.readBalance(organizationId);
  return [creditedNanoUsd, chargedNanoUsd, heldNanoUsd, availableNanoUsd].map(Number);
}

describe('credit', () => {
  it('is zero for an organization that never had any', async () => {
    expect(await balance()).toEqual([0, 0, 0, 0]);
  });

  it('is added once per credit id', async () => {
    expect(await credit(100)).toBe('added');
    expect(await credit(100)).toBe('added');
    expect(await balance()).toEqual([100, 0, 0, 100]);
  });

  it('refuses a used credit id with another amount', async () => {
    await credit(100);
    expect(await credit(50)).toBe('conflict');
    expect(await balance()).toEqual([100, 0, 0, 100]);
  });
});

describe.each(DECISIONS)('holds that are decided %s', (decision) => {
  const place = (ledger: LedgerInstance, holds: readonly HoldRequest[]) =>
    holdCredit(decision, ledger, holds);

  it('moves the amount from available to held', async () => {
    await credit(100);
    expect(await place(fixture.first, [hold('g1', 60)])).toEqual([{ kind: 'held' }]);
    expect(await balance()).toEqual([100, 0, 60, 40]);
  });

  it('decides in order: after a refused hold a smaller one may pass', async () => {
    await credit(100);
    const outcomes = await place(fixture.first, [
      hold('g1', 60),
      hold('g2', 50),
      hold('g3', 40),
      hold('g4', 1),
    ]);
    expect(outcomes).toEqual([
      { kind: 'held' },
      { kind: 'insufficient_credits', availableNanoUsd: 40n, heldNanoUsd: 60n },
      { kind: 'held' },
      { kind: 'insufficient_credits', availableNanoUsd: 0n, heldNanoUsd: 100n },
    ]);
    expect(await balance()).toEqual([100, 0, 100, 0]);
  });

  it('returns a repeated hold as held, and places it once', async () => {
    await credit(100);
    await place(fixture.first, [hold('g1', 60)]);
    expect(await place(fixture.second, [hold('g1', 60)])).toEqual([{ kind: 'held' }]);
    expect(await balance()).toEqual([100, 0, 60, 40]);
  });

  it('returns closed for a hold that was settled, voided or abandoned', async () => {
    await credit(100);
    await place(fixture.first, [hold('settled', 10), hold('voided', 10)]);
    await settle(finished('settled', 5));
    await fixture.first.store.voidHolds([ref('voided'), ref('abandoned')]);
    const names = ['settled', 'voided', 'abandoned'];
    const outcomes = await place(
      fixture.second,
      [...names, 'new'].map((name) => hold(name, 10)),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(['closed', 'closed', 'closed', 'held']);
    expect(await balance()).toEqual([100, 5, 10, 85]);
  });

  it("returns foreign for another organization's hold", async () => {
    await credit(100);
    await place(fixture.first, [hold('g1', 60)]);
    const stranger = hold('g1', 60, { organizationId: 'org-stranger' });
    expect(await place(fixture.first, [stranger])).toEqual([{ kind: 'foreign' }]);
  });

  it('refuses an unknown organization with insufficient credits', async () => {
    expect(await place(fixture.first, [hold('g1', 1)])).toEqual([
      { kind: 'insufficient_credits', availableNanoUsd: 0n, heldNanoUsd: 0n },
    ]);
  });

  it('checks credit before the daily budget', async () => {
    await credit(10);
    const [outcome] = await place(fixture.first, [hold('g1', 20, { limits: { organization: { day: 5 } } })]);
    expect(outcome?.kind).toBe('insufficient_credits');
  });
});

describe('the fast path of holds', () => {
  /** Fails where a hold is not placed with the whole batch. */
  async function holdWithoutSlowPath(holds: readonly HoldRequest[]) {
    const { rows } = await fixture.auditPool.query<{ definition: string }>(
      "select pg_get_functiondef('hold_credit'::regproc) as definition",
    );
    const definition = rows[0]?.definition ?? '';
    const loop = 'decision := null;';
    expect(definition).toContain(loop);
    const refusal = `if not coalesce(i = any (placed), false) then raise exception using errcode = '${SLOW_PATH}'; end if;`;
    await fixture.auditPool.query(definition.replace(loop, `${refusal} ${loop}`));
    try {
      return await fixture.first.store.holdCredit(holds).then(
        (outcomes) => outcomes.map(({ kind }) => kind),
        ({ code }: { code: string }) => code,
      );
    } finally {
      await fixture.auditPool.query(definition);
    }
  }
  const SLOW_PATH = 'GW999';
  const budgets = (organization: number | undefined, key?: number) => ({
    limits: { organization: { day: organization }, key: { day: key } },
  });

  it('uses accounts and budgets to the last nano-dollar, for several organizations', async () => {
    await credit(100);
    const other = `other-${organizationId}`;
    await fixture.first.store.addCredit(
      {
        creditId: other,
        organizationId: other,
        amountNanoUsd: usdNano(9),
        note: 'test',
      },
      createAuditEntry(),
    );
    const holds = [
      hold('g1', 60, budgets(100, 60)),
      hold('g2', 40, { ...budgets(100, 40), keyId: 'key-b' }),
      hold('g3', 9, { ...budgets(undefined), organizationId: other }),
    ];
    expect(await holdWithoutSlowPath(holds)).toEqual(['held', 'held', 'held']);
    expect(await balance()).toEqual([100, 0, 100, 0]);
    const { rows } = await fixture.auditPool.query(
      "select reference, posted_unix_ms, held_nano_usd from postings where kind = 'hold' and reference = any ($1) order by 1",
      [holds.map(({ holdId }) => holdId)],
    );
    expect(rows).toEqual(
      holds.map(({ holdId, amountNanoUsd }) => ({
        reference: holdId,
        posted_unix_ms: BigInt(at),
        held_nano_usd: amountNanoUsd,
      })),
    );
  });

  it.each<[string, () => readonly HoldRequest[]]>([
    ['credit', () => [hold('g1', 60), hold('g2', 41)]],
    ["the organization's budget", () => [hold('g1', 30, budgets(50)), hold('g2', 21, budgets(50))]],
    ['the smallest of budgets that differ', () => [hold('g1', 30, budgets(50)), hold('g2', 10, budgets(39))]],
    ["the key's budget", () => [hold('g1', 30, budgets(90, 50)), hold('g2', 21, budgets(90, 50))]],
    ['an account', () => [hold('g1', 1), hold('g2', 1, { organizationId: 'org-without-account' })]],
  ])('changes nothing and leaves the batch to the slow path when a hold lacks %s', async (_what, holds) => {
    await credit(100);
    expect(await holdWithoutSlowPath(holds())).toBe(SLOW_PATH);
    expect(await balance()).toEqual([100, 0, 0, 100]);
    const { rows } = await fixture.auditPool.query(
      'select from open_holds where organization_id = $1 union all select from budget_accounts where organization_id = $1',
      [organizationId],
    );
    expect(rows).toEqual([]);
  });

  it('leaves a batch with an open, closed, abandoned or deleted hold to the slow path', async () => {
    await credit(100);
    await fixture.first.store.holdCredit([hold('open', 10), hold('settled', 10)]);
    await settle(finished('settled', 5));
    await fixture.first.store.voidHolds([ref('abandoned')]);
    const before = await balance();
    for (const name of ['open', 'settled', 'abandoned']) {
      expect(await holdWithoutSlowPath([hold('new', 1), hold(name, 10)])).toBe(SLOW_PATH);
    }
    await fixture.auditPool.query(`update closed_hold_retention set oldest_retained_hold_id = 'gen-1'`);
    try {
      expect(await holdWithoutSlowPath([hold('new', 1), hold('', 1, { holdId: 'gen-0' })])).toBe(SLOW_PATH);
    } finally {
      await fixture.auditPool.query(`update closed_hold_retention set oldest_retained_hold_id = 'gen-'`);
    }
    expect(await balance()).toEqual(before);
  });

  it('counts earlier spending and holds', async () => {
    await credit(100);
    await fixture.first.store.holdCredit([hold('g1', 30), hold('g2', 10)]);
    await settle(finished('g1', 20));
    expect(await holdWithoutSlowPath([hold('g3', 20, budgets(49))])).toBe(SLOW_PATH);
    expect(await holdWithoutSlowPath([hold('g3', 20, budgets(50))])).toEqual(['held']);
    expect(await holdWithoutSlowPath([hold('g4', 20, budgets(undefined, 69))])).toBe(SLOW_PATH);
    expect(await holdWithoutSlowPath([hold('g4', 20, budgets(undefined, 70))])).toEqual(['held']);
  });
});

describe.each(DECISIONS)('daily budget, for holds that are decided %s', (decision) => {
  const place = (ledger: LedgerInstance, holds: readonly HoldRequest[]) =>
    holdCredit(decision, ledger, holds);

  const budgeted = (name: string, amount: number, more = {}) =>
    hold(name, amount, { limits: { organization: { day: 50 } }, ...more });

  it('counts holds and spending of the day', async () => {
    await credit(1_000);
    const outcomes = await place(fixture.first, [budgeted('g1', 30), budgeted('g2', 30), budgeted('g3', 20)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['held', 'budget_exceeded', 'held']);
    expect(outcomes[1]).toEqual({
      kind: 'budget_exceeded',
      scope: 'organization',
      period: 'day',
      limitNanoUsd: 50n,
      usedNanoUsd: 30n,
      heldNanoUsd: 30n,
    });
    await settle(finished('g1', 10));
    await fixture.first.store.voidHolds([ref('g3')]);
    const [fits, overflows] = await place(fixture.first, [budgeted('g4', 40), budgeted('g5', 1)]);
    expect(fits?.kind).toBe('held');
    expect(overflows).toMatchObject({ kind: 'budget_exceeded', usedNanoUsd: 50n, heldNanoUsd: 40n });
  });

  it("holds a key to its own budget, whatever the organization's", async () => {
    await credit(1_000);
    const outcomes = await place(fixture.first, [
      hold('g1', 30, { keyId: 'key-1', limits: { key: { day: 40 } } }),
      hold('g2', 30, { keyId: 'key-1', limits: { key: { day: 40 } } }),
      hold('g3', 30, { keyId: 'key-2', limits: { key: { day: 40 } } }),
    ]);
    expect(outcomes).toEqual([
      { kind: 'held' },
      {
        kind: 'budget_exceeded',
        scope: 'key',
        period: 'day',
        limitNanoUsd: 40n,
        usedNanoUsd: 30n,
        heldNanoUsd: 30n,
      },
      { kind: 'held' },
    ]);
  });

  it('resets with the next UTC day, and settlements count on the day of admission', async () => {
    await credit(1_000);
    const [today] = await place(fixture.first, [budgeted('g1', 50)]);
    await fixture.clock.advance(DAY_MS);
    // Admitted by an edge whose clock is a day behind.
    const [next] = await place(fixture.first, [budgeted('g2', 50, { createdAt: at })]);
    expect([today?.kind, next?.kind]).toEqual(['held', 'held']);
    await settle(finished('g1', 50, { createdAt: fixture.clock.now() }));
    const { rows } = await fixture.first.pool.query(
      `select day::text, spent_nano_usd as spent from budget_accounts
       where organization_id = $1 and owner_id = '' order by day`,
      [organizationId],
    );
    expect(rows.map(({ spent }) => Number(spent))).toEqual([50, 0]);
  });
});

describe('settlement', () => {
  beforeEach(async () => {
    await credit(100);
    await fixture.first.store.holdCredit([hold('g1', 60)]);
  });

  it('charges the cost and releases the rest of the hold', async () => {
    const report = await settle(finished('g1', 25));
    expect(report.settlements).toMatchObject([{ origin: 'held', costNanoUsd: 25n, chargedNanoUsd: 25n }]);
    expect(await balance()).toEqual([100, 25, 0, 75]);
  });

  it('happens once, and is announced once', async () => {
    await settle(finished('g1', 25), finished('g1', 30));
    expect(await settle(finished('g1', 30))).toMatchObject({ settlements: [], duplicates: 1 });
    expect(await balance()).toEqual([100, 25, 0, 75]);
    const announced = (await fixture.announced()).filter(
      (settled) => settled.finished?.organizationId === organizationId,
    );
    expect(announced.map((settled) => settled.chargedNanoUsd)).toEqual([25n]);
  });

  it('charges a cost above the hold to the available balance, at most all of it', async () => {
    await settle(finished('g1', 90));
    expect(await balance()).toEqual([100, 90, 0, 10]);
    await fixture.first.store.holdCredit([hold('g2', 4)]);
    const { settlements } = await settle(finished('g2', 50));
    expect(settlements).toMatchObject([{ costNanoUsd: 50n, chargedNanoUsd: 10n }]);
    expect(await balance()).toEqual([100, 100, 0, 0]);
    expect((await auditLedger(fixture.first.pool)).totals.uncollected).toBeGreaterThanOrEqual(40n);
  });

  it('of a voided hold is late and charged once', async () => {
    await fixture.first.store.voidHolds([ref('g1')]);
    expect(await balance()).toEqual([100, 0, 0, 100]);
    expect((await settle(finished('g1', 25))).settlements).toMatchObject([{ origin: 'late' }]);
    await settle(finished('g1', 25));
    expect(await balance()).toEqual([100, 25, 0, 75]);
  });

  it.each(['before', 'after'])(
    'without usage changes no balance and is announced once, %s its hold is voided',
    async (order) => {
      const voided = () => fixture.first.store.voidHolds([ref('g1')]);
      if (order === 'after') await voided();
      expect((await settle(finished('g1', 0))).settlements).toMatchObject([
        { costNanoUsd: 0n, chargedNanoUsd: 0n },
      ]);
      if (order === 'before') await voided();
      expect(await settle(finished('g1', 0))).toMatchObject({ settlements: [], duplicates: 1 });
      expect(await balance()).toEqual([100, 0, 0, 100]);
      const announced = (await fixture.announced()).filter(
        (settled) => settled.finished?.organizationId === organizationId,
      );
      expect(announced.map((settled) => settled.costNanoUsd)).toEqual([0n]);
    },
  );

  it('of a generation without a hold is charged once, at the prices of the event', async () => {
    expect((await settle(finished('g9', 7))).settlements).toMatchObject([{ origin: 'no_hold' }]);
    await settle(finished('g9', 7));
    expect(await balance()).toEqual([100, 7, 60, 33]);
  });

  it('of a generation whose hold and account were lost in a failover is booked, as uncollected', async () => {
    organizationId = `${organizationId}-lost`;
    const { settlements } = await settle(finished('g9', 7));
    expect(settlements).toMatchObject([{ origin: 'no_hold', costNanoUsd: 7n, chargedNanoUsd: 0n }]);
    expect(await settle(finished('g9', 7))).toMatchObject({ settlements: [], duplicates: 1 });
  });

  describe('with the progress of a consumer', () => {
    const table = 'progress_of_test';
    let committed: number;

    beforeAll(() => fixture.auditPool.query(`create table ${table} (step integer check (step > 0))`));
    beforeEach(async () => {
      committed = 0;
      await fixture.auditPool.query(`truncate ${table}`);
    });

    const progress = (step: number): ConsumerProgress => ({
      write: async (client) =>
        void (await (client as ClientBase).query(`insert into ${table} values ($1)`, [step])),
      committed: () => void (committed += 1),
    });
    const settleWith = (step: number, ...generations: ReturnType<typeof finished>[]) =>
      fixture.first.store.settleGenerations(generations, announce, progress(step));
    const stored = async () => (await fixture.auditPool.query(`select from ${table}`)).rowCount;

    it.each([
      ['on the fast path', 25],
      ['on the slow path', 65],
    ])('stores both, or neither, %s', async (_, cost) => {
      await expect(settleWith(-1, finished('g1', cost))).rejects.toThrow('check');
      expect(await balance()).toEqual([100, 0, 60, 40]);
      expect([await stored(), committed]).toEqual([0, 0]);
      await settleWith(1, finished('g1', cost));
      expect(await balance()).toEqual([100, cost, 0, 100 - cost]);
      expect([await stored(), committed]).toEqual([1, 1]);
    });

    it('stores it for a batch that was settled before', async () => {
      await settle(finished('g1', 25));
      expect(await settleWith(1, finished('g1', 25))).toMatchObject({ duplicates: 1 });
      expect([await stored(), committed]).toEqual([1, 1]);
    });

    it('does not store it before a rejected generation is a dead letter', async () => {
      await settleWith(1, finished('g1', 25), finished('g9', 7, { prices: undefined }));
      expect(await balance()).toEqual([100, 25, 0, 75]);
      expect([await stored(), committed]).toEqual([0, 0]);
    });
  });

  it('without a hold and without prices is rejected, and settles the others', async () => {
    const report = await settle(finished('g9', 7, { prices: undefined }), finished('g1', 25));
    expect(report.rejected).toEqual([
      { generationId: `${organizationId}-g9`, reason: expect.stringContaining('neither') },
    ]);
    expect(await balance()).toEqual([100, 25, 0, 75]);
  });

  it("of another organization's hold is rejected", async () => {
    const report = await settle(finished('g1', 25, { organizationId: 'org-thief' }));
    expect(report.rejected).toHaveLength(1);
    expect(await balance()).toEqual([100, 0, 60, 40]);
  });

  it('charges each kind of token at its own price, from the hold or else from the event', async () => {
    const usage = {
      promptTokens: 19,
      cachedTokens: 3,
      cacheWriteTokens: 4,
      cacheWrite1hTokens: 5,
      imageTokens: 2,
      completionTokens: 8,
      reasoningTokens: 6,
    };
    const prices = {
      inputNanoUsdPerMillion: 1_000_000n,
      cachedInputNanoUsdPerMillion: 10_000_000n,
      cacheWriteNanoUsdPerMillion: 100_000_000n,
      cacheWrite1hNanoUsdPerMillion: 1_000_000_000n,
      outputNanoUsdPerMillion: 10_000_000_000n,
      reasoningNanoUsdPerMillion: 1_000_000_000_000n,
      imageNanoUsdPerMillion: 100_000_000_000_000n,
      tiers: [],
    };
    const cost =
      5n * 1n + 3n * 10n + 4n * 100n + 5n * 1_000n + 2n * 10_000n + 6n * 1_000_000n + 2n * 100_000_000n;
    await credit(1_000_000_000, 'credit-for-kinds');
    await fixture.first.store.holdCredit([hold('kinds', 500_000_000, { prices })]);
    const report = await settle(
      finished('kinds', 0, { usage, prices: undefined }),
      finished('kinds-no-hold', 0, { usage, prices }),
    );
    expect(report.settlements.map(({ costNanoUsd }) => costNanoUsd)).toEqual([cost, cost]);
  });

  const otherPrices = {
    ...Object.fromEntries(Object.keys(UNIT_PRICES).map((name) => [name, { [name]: 9_000_000n }])),
    tiers: { tiers: [{ ...UNIT_PRICES, abovePromptTokens: 4, outputNanoUsdPerMillion: 9_000_000n }] },
  };

  it.each(Object.entries(otherPrices))(
    'uses the prices of the hold when the event has other %s',
    async (name, changes) => {
      const usage = {
        promptTokens: 5,
        cachedTokens: 1,
        cacheWriteTokens: 1,
        cacheWrite1hTokens: 1,
        imageTokens: 1,
        completionTokens: 2,
        reasoningTokens: 1,
      };
      const prices = { ...UNIT_PRICES, ...changes };
      await credit(100, `credit-for-${name}`);
      await fixture.first.store.holdCredit([hold('g2', 50)]);
      const { settlements } = await settle(finished('g2', 0, { usage, prices }));
      // One token of each kind at 2, 3, 11, 13, 7, 1 and 5.
      expect(settlements.map(({ chargedNanoUsd }) => Number(chargedNanoUsd))).toEqual([42]);
    },
  );

  it('charges a long prompt at the prices of its tier, from the hold or else from the event', async () => {
    const usage = {
      promptTokens: 5,
      cachedTokens: 0,
      cacheWriteTokens: 5,
      cacheWrite1hTokens: 0,
      imageTokens: 0,
      completionTokens: 1,
      reasoningTokens: 0,
    };
    const tier = { ...UNIT_PRICES, abovePromptTokens: 4, cacheWriteNanoUsdPerMillion: 6_000_000n };
    const prices = { ...UNIT_PRICES, tiers: [tier] };
    await credit(100, 'credit-for-long-prompt');
    await fixture.first.store.holdCredit([hold('g2', 50, { prices })]);
    const { settlements } = await settle(
      finished('g2', 0, { usage, prices: undefined }),
      finished('no-hold', 0, { usage, prices }),
    );
    expect(settlements.map(({ costNanoUsd }) => Number(costNanoUsd))).toEqual([31, 31]);
  });

  it('uses the prices frozen on the hold, not those of the event', async () => {
    const higher = { ...hold('g2', 20).prices, outputNanoUsdPerMillion: 9_000_000n };
    await fixture.first.store.holdCredit([hold('g2', 20)]);
    await settle(finished('g2', 5, { prices: higher }));
    expect((await balance())[1]).toBe(5);
  });
});

describe('voiding', () => {
  it('releases a hold once, and does not change settled holds', async () => {
    await credit(100);
    await fixture.first.store.holdCredit([hold('g1', 60), hold('g2', 30)]);
    await settle(finished('g2', 30));
    const refs = [ref('g1'), ref('g1'), ref('g2'), ref('g7')];
    expect(await fixture.first.store.voidHolds(refs)).toBe(1);
    expect(await fixture.first.store.voidHolds(refs)).toBe(0);
    expect(await balance()).toEqual([100, 30, 0, 70]);
  });

  it('that arrives before its hold prevents the hold', async () => {
    await credit(100);
    expect(await fixture.first.store.voidHolds([ref('g1')])).toBe(0);
    await fixture.second.store.holdCredit([hold('g1', 60)]);
    expect(await balance()).toEqual([100, 0, 0, 100]);
  });

  it('leaves nothing held when it races with its hold, in either order', async () => {
    await credit(100);
    const names = Array.from({ length: 20 }, (_, index) => `race-${index}`);
    await Promise.all(
      names.flatMap((name) => [
        fixture.first.store.holdCredit([hold(name, 1)]),
        fixture.second.store.voidHolds([ref(name)]),
      ]),
    );
    expect(await balance()).toEqual([100, 0, 0, 100]);
  });

  it('that arrives before its hold prevents the settlement', async () => {
    await credit(100);
    await fixture.first.store.voidHolds([ref('g1')]);
    expect((await settle(finished('g1', 5))).rejected).toEqual([
      {
        generationId: ref('g1').holdId,
        reason: 'its hold was voided before it was placed, or is past its retention',
      },
    ]);
    expect(await balance()).toEqual([100, 0, 0, 100]);
  });

  it("does not change another organization's hold", async () => {
    await credit(100);
    await fixture.first.store.holdCredit([hold('g1', 60)]);
    expect(await fixture.first.store.voidHolds([{ ...ref('g1'), organizationId: 'org-thief' }])).toBe(0);
    expect(await balance()).toEqual([100, 0, 60, 40]);
  });

  it('keeps a hold through the millisecond of its deadline', async () => {
    await credit(100);
    await fixture.first.store.holdCredit([
      hold('g1', 10, { lifetimeMs: 2 }),
      hold('g2', 10, { lifetimeMs: 1 }),
    ]);
    await fixture.clock.advance(2);
    expect(await fixture.first.store.voidOverdueHolds(5)).toBe(1);
    expect(await balance()).toEqual([100, 0, 10, 90]);
    expect(await fixture.first.store.voidHolds([ref('g1')])).toBe(1);
  });

  it('covers holds past their deadline, in limited batches and from several replicas', async () => {
    await credit(100);
    await fixture.first.store.holdCredit([
      ...['g1', 'g2', 'g3'].map((name) => hold(name, 10, { lifetimeMs: 1 })),
      hold('g4', 10),
    ]);
    await fixture.clock.advance(2);
    expect(await fixture.first.store.voidOverdueHolds(2)).toBe(2);
    const counts = await Promise.all([
      fixture.first.store.voidOverdueHolds(5),
      fixture.second.store.voidOverdueHolds(5),
    ]);
    expect(counts[0] + counts[1]).toBe(1);
    expect(await balance()).toEqual([100, 0, 10, 90]);
  });
});
