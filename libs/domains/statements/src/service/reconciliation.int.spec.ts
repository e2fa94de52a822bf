import { MINUTE_MS } from '@gateway/base';
import { createLogger, createMetrics } from '@gateway/runtime';
import { createAuditEntry, beginIdleTransaction } from '@gateway/test-support';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { createPostgresStatementStore } from '../adapters/postgres/statement-store';
import { createPostgresReconciler } from '../adapters/postgres/reconciler';
import type { LedgerReconciler } from '../core/ports';
import { createReconciliationMetrics } from './metrics';
import { createLedgerReconciliation } from './reconciliation';

let fixture: LedgerFixture;
let reconcilers: { readonly first: LedgerReconciler; readonly second: LedgerReconciler };
let lines: Record<string, unknown>[];
let registry: ReturnType<typeof createMetrics>;
let run: () => Promise<void>;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  const { appender, clock } = fixture;
  reconcilers = {
    first: createPostgresReconciler({ pool: fixture.first.pool, appender, clock }),
    second: createPostgresReconciler({ pool: fixture.second.pool, appender, clock }),
  };
});

afterAll(() => fixture.close());

/** Postings of every kind: old ones that are in the sums, and new ones. */
beforeEach(async () => {
  const { rows } = await fixture.auditPool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('_prisma_migrations', 'closed_hold_retention')`,
  );
  await fixture.auditPool.query(`truncate ${rows.map(({ name }) => name).join(', ')}`);
  lines = [];
  registry = createMetrics({ processMetrics: false });
  ({ run } = createLedgerReconciliation({
    reconciler: reconcilers.first,
    clock: fixture.clock,
    log: createLogger({
      name: 'test',
      level: 'info',
      pretty: false,
      destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    }),
    metrics: createReconciliationMetrics(registry),
    intervalMs: 1_000_000,
  }));
  await post('old');
  await fixture.clock.advance(20 * MINUTE_MS);
  await run();
  await post('new');
});

async function post(prefix: string): Promise<void> {
  const { store } = fixture.first;
  const at = fixture.clock.now();
  for (const organizationId of ['org-a', 'org-b']) {
    const named = (name: string) => `${prefix}-${name}-${organizationId}`;
    const of = { organizationId, at };
    await store.addCredit(
      {
        creditId: named('credit'),
        organizationId,
        amountNanoUsd: usdNano(100),
        note: '',
      },
      createAuditEntry(),
    );
    await store.holdCredit(
      ['settled', 'open', 'voided'].map((name) => makeHold({ holdId: named(name), amount: 20, ...of })),
    );
    await store.settleGenerations(
      [makeFinished({ generationId: named('settled'), cost: 500, ...of })],
      announce,
    );
    await store.voidHolds([{ holdId: named('voided'), organizationId }]);
  }
}

const differences = async () => {
  const { values = [] } =
    (await registry.getSingleMetric('gateway_billing_ledger_reconciliation_differences')?.get()) ?? {};
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels['kind'], value]),
  );
};
const logged = (text: string) => lines.filter(({ msg }) => msg === text);

it('finds no difference in a consistent ledger, and exposes the time of the run', async () => {
  await run();
  expect(await differences()).toEqual({});
  expect(lines).toEqual([]);
  const text = await registry.metrics();
  const nowS = fixture.clock.now() / 1_000;
  expect(text).toContain(`gateway_billing_ledger_reconciliation_last_run_timestamp_seconds ${nowS}`);
  expect(text).toContain(`gateway_billing_ledger_reconciliation_watermark_timestamp_seconds ${nowS}`);
  expect(text).toContain('gateway_billing_ledger_reconciliation_organizations_total 4');
});

it('returns the differences and the time of the run', async () => {
  await fixture.auditPool.query(
    `update accounts set uncollected_nano_usd = uncollected_nano_usd + 7 where organization_id = 'org-a'`,
  );
  await run();
  const statements = createPostgresStatementStore({ pool: fixture.first.pool, clock: fixture.clock });
  const { differences: known, ...progress } = await statements.readReconciliation();
  const now = fixture.clock.now();
  expect(progress).toEqual({ lastRun: now, reconciledUntil: now, knownDifferences: 1 });
  const [difference] = known;
  expect(known).toHaveLength(1);
  expect(difference).toMatchObject({ organizationId: 'org-a', kind: 'uncollected', firstSeenAt: now });
  expect((difference?.foundNanoUsd ?? 0n) - (difference?.expectedNanoUsd ?? 0n)).toBe(7n);

  await fixture.auditPool.query('truncate reconciliation_progress, reconciliation_differences');
  expect(await statements.readReconciliation()).toEqual({
    lastRun: undefined,
    reconciledUntil: undefined,
    knownDifferences: 0,
    differences: [],
  });
});

/** Manual changes that constraints allow; the ledger itself cannot make them. */
const CORRUPTIONS: [what: string, sql: string, found: Record<string, number>][] = [
  [
    'an increased balance',
    'update accounts set available_nano_usd = available_nano_usd + 7, credited_nano_usd = credited_nano_usd + 7',
    { available: 1, credited: 1 },
  ],
  [
    'a held amount without a hold',
    'update accounts set held_nano_usd = held_nano_usd + 7, credited_nano_usd = credited_nano_usd + 7',
    { held: 1, credited: 1 },
  ],
  [
    'an increased charge',
    'update accounts set charged_nano_usd = charged_nano_usd + 7, credited_nano_usd = credited_nano_usd + 7',
    { charged: 1, credited: 1 },
  ],
  ['a deleted open hold', `delete from open_holds where hold_id = 'new-open-org-a'`, { open_holds: 1 }],
  [
    'a changed uncollected cost',
    'update accounts set uncollected_nano_usd = uncollected_nano_usd + 7',
    { uncollected: 1 },
  ],
  [
    'a deleted posting',
    `delete from postings where reference = 'new-voided-org-a' and kind = 'void'`,
    { available: 1, held: 1, open_holds: 1 },
  ],
];

it.each(CORRUPTIONS)('finds %s, counts it and logs it once', async (_what, sql, found) => {
  const isFiltered = /where/.test(sql);
  await fixture.auditPool.query(isFiltered ? sql : `${sql} where organization_id = 'org-a'`);
  await run();
  await run();
  expect(await differences()).toEqual(found);
  const errors = logged('ledger balances do not match the postings');
  expect(errors.map(({ kind }) => kind).sort()).toEqual(Object.keys(found).sort());
  for (const line of errors) expect(line).toMatchObject({ organizationId: 'org-a', level: 'error' });
});

it('does not read summed postings again, so the cost of a run does not grow', async () => {
  await fixture.auditPool.query(
    `delete from postings where reference = 'old-voided-org-a' and kind = 'void'`,
  );
  await run();
  expect(await differences()).toEqual({});
  await fixture.auditPool.query('delete from reconciliation_sums');
  await run();
  expect(await differences()).toEqual({ available: 1, held: 1, open_holds: 1 });
});

it('finds a settled hold with another charge when it enters the sums, and until it is corrected', async () => {
  const sql = (charged: number) =>
    `update closed_holds set charged_nano_usd = ${charged} where hold_id = 'new-settled-org-a'`;
  const { rows } = await fixture.auditPool.query<{ charged: bigint }>(
    `select charged_nano_usd as charged from closed_holds where hold_id = 'new-settled-org-a'`,
  );
  const right = Number(rows[0]?.charged);
  await fixture.auditPool.query(sql(right - 1));
  await fixture.clock.advance(20 * MINUTE_MS);
  for (let runs = 0; runs < 3; runs += 1) {
    await run();
    expect(await differences()).toEqual({ settlement: 1 });
  }
  expect(logged('ledger balances do not match the postings')).toMatchObject([
    {
      organizationId: 'org-a',
      kind: 'settlement',
      generationId: 'new-settled-org-a',
      expectedNanoUsd: String(right),
      foundNanoUsd: String(right - 1),
    },
  ]);
  await fixture.auditPool.query(sql(right));
  await run();
  expect(await differences()).toEqual({});
  expect(logged('ledger reconciliation: a difference has ended')).toHaveLength(1);
});

it('removes only the resolved difference of an organization', async () => {
  const change = (changes: string) =>
    fixture.auditPool.query(`update accounts set ${changes} where organization_id = 'org-a'`);
  await change('held_nano_usd = held_nano_usd + 7, credited_nano_usd = credited_nano_usd + 7');
  await change('uncollected_nano_usd = uncollected_nano_usd + 7');
  await run();
  expect(await differences()).toEqual({ uncollected: 1, held: 1, credited: 1 });
  await change('uncollected_nano_usd = uncollected_nano_usd - 7');
  await run();
  expect(await differences()).toEqual({ held: 1, credited: 1 });
});

/** After this, the next run sums everything before the new postings; the run after it sums those, to the millisecond. */
const UNTIL_THE_NEW_MS = 10 * MINUTE_MS;

it('sums postings on the boundary of two runs once, without reading older ones again', async () => {
  await fixture.clock.advance(UNTIL_THE_NEW_MS);
  await run();
  // Would be found if all postings were summed again.
  await fixture.auditPool.query(
    `delete from postings where reference = 'old-voided-org-a' and kind = 'void'`,
  );
  for (let runs = 0; runs < 2; runs += 1) {
    await fixture.clock.advance(MINUTE_MS);
    await run();
    expect(await differences()).toEqual({});
  }
});

it('compares a settlement on the boundary of two runs in the second run', async () => {
  await fixture.auditPool.query(
    `update closed_holds set charged_nano_usd = charged_nano_usd - 1 where hold_id = 'new-settled-org-a'`,
  );
  await fixture.clock.advance(UNTIL_THE_NEW_MS);
  await run();
  expect(await differences()).toEqual({});
  await fixture.clock.advance(1);
  await run();
  expect(await differences()).toEqual({ settlement: 1 });
});

it.each([
  ['the oldest retained', 'gen-B', { settlement: 1 }],
  ['older than the oldest retained', 'gen-C', {}],
])(
  'expects a hold for a settlement only as far as holds are retained: %s',
  async (_what, oldestRetained, found) => {
    await fixture.first.store.settleGenerations(
      [makeFinished({ generationId: 'gen-B', cost: 5, at: fixture.clock.now() })],
      announce,
    );
    await fixture.auditPool.query(`delete from closed_holds where hold_id = 'gen-B'`);
    const retainFrom = (id: string) =>
      fixture.auditPool.query('update closed_hold_retention set oldest_retained_hold_id = $1', [id]);
    await retainFrom(oldestRetained);
    try {
      await fixture.clock.advance(20 * MINUTE_MS);
      await run();
      expect(await differences()).toEqual(found);
    } finally {
      await retainFrom('gen-');
    }
  },
);

it('reports no difference for a posting of a process with a slow clock', async () => {
  await fixture.clock.advance(20 * MINUTE_MS);
  await run();
  await fixture.clock.advance(-30 * MINUTE_MS);
  await post('late');
  await fixture.clock.advance(30 * MINUTE_MS);
  await run();
  expect(await differences()).toEqual({});
});

it('continues with the next organizations where the previous run stopped, and detects the end of a round', async () => {
  const first = await reconcilers.first.reconcile(1);
  await fixture.clock.advance(1_000);
  const second = await reconcilers.second.reconcile(1);
  const third = await reconcilers.first.reconcile(1);
  expect([first, second, third].map((each) => each?.organizations)).toEqual([1, 1, 0]);
  // As of the start of the round.
  expect(third?.reconciledUntil).toBe(fixture.clock.now() - 1_000);
});

it('runs in one process at a time', async () => {
  const client = await fixture.second.pool.connect();
  await beginIdleTransaction(client);
  await client.query(`select reconcile_accounts(1, 0, 1)`);
  expect(await reconcilers.first.reconcile(1)).toBeUndefined();
  await client.query('rollback');
  client.release();
  expect(await reconcilers.first.reconcile(1)).toBeDefined();
});
