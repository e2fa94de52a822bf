import { DAY_MS, HOUR_MS, type UnixMs } from '@gateway/base';
import {
  announce,
  budgetsOf,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type Amounts,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { createAuditEntry, readsOf } from '@gateway/test-support';
import type { StatementStore } from '../../core/ports';
import { createPostgresStatementStore } from './statement-store';

let fixture: LedgerFixture;
let statements: StatementStore;
let organizationId: string;
let counter = 0;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  statements = createPostgresStatementStore({ pool: fixture.first.pool, clock: fixture.clock });
});
afterAll(() => fixture.close());

beforeEach(async () => {
  organizationId = `org-use-${(counter += 1)}`;
  // A Thursday, and not the first day of a month.
  await fixture.clock.set(Date.UTC(2027, 3, 15, 12, 30) as UnixMs);
  await fixture.first.store.addCredit(
    { creditId: `crd-use-${counter}`, organizationId, amountNanoUsd: usdNano(1e9), note: '' },
    createAuditEntry(),
  );
});

interface Use {
  readonly keyId?: string;
  readonly endUser?: string;
  readonly limits: { readonly end_user?: Amounts; readonly key?: Amounts };
}

/** Holds an amount, and settles it unless it stays open. */
async function use(amount: number, { keyId = 'key-a', endUser, limits }: Use, isOpen = false): Promise<void> {
  const holdId = `gen-use-${(counter += 1)}`;
  const at = fixture.clock.now();
  const hold = makeHold({ holdId, organizationId, keyId, amount, at });
  const budgets = budgetsOf(hold, limits, endUser);
  expect((await fixture.first.store.holdCredit([{ ...hold, budgets }])).map(({ kind }) => kind)).toEqual([
    'held',
  ]);
  if (isOpen) return;
  const finished = makeFinished({ generationId: holdId, organizationId, keyId, cost: amount, at });
  await fixture.first.store.settleGenerations([finished], announce);
}

const END_USERS = { end_user: { day: 1e6, total: 1e6 } };
const listed = async (
  period: 'day' | 'week' | 'month' | 'total' | 'window',
  more: { hours?: number; limit?: number } = {},
) =>
  (
    await statements.listEndUserSpend({
      ...{ organizationId, keyId: 'key-a', period, hours: more.hours, limit: more.limit ?? 10 },
    })
  ).map(({ endUser, spentNanoUsd, heldNanoUsd }) => [endUser, Number(spentNanoUsd), Number(heldNanoUsd)]);

it('lists the end users of a key by what they spent and hold in each period, the most first', async () => {
  await fixture.clock.set(Date.UTC(2027, 3, 2, 8) as UnixMs);
  await use(100, { endUser: 'alice', limits: END_USERS });
  await fixture.clock.set(Date.UTC(2027, 3, 14, 12) as UnixMs);
  await use(20, { endUser: 'alice', limits: END_USERS });
  await use(50, { endUser: 'bob', limits: END_USERS });
  await fixture.clock.set(Date.UTC(2027, 3, 15, 12, 30) as UnixMs);
  await use(3, { endUser: 'alice', limits: END_USERS });
  await use(4, { endUser: '', limits: END_USERS });
  await use(2, { endUser: 'alice', limits: END_USERS }, true);
  await use(7, { endUser: 'of/another', keyId: 'key-a0', limits: END_USERS });
  await use(9, { endUser: 'of/another', keyId: 'key', limits: END_USERS });

  expect(await listed('day')).toEqual([
    ['alice', 3, 2],
    ['', 4, 0],
  ]);
  const week = [
    ['bob', 50, 0],
    ['alice', 23, 2],
    ['', 4, 0],
  ];
  expect(await listed('week')).toEqual(week);
  expect(await listed('window', { hours: 25 })).toEqual(week);
  expect(await listed('window', { hours: 24 })).toEqual([
    ['alice', 3, 2],
    ['', 4, 0],
  ]);
  const month = [
    ['alice', 123, 2],
    ['bob', 50, 0],
    ['', 4, 0],
  ];
  expect(await listed('month')).toEqual(month);
  expect(await listed('total')).toEqual(month);
  expect(await listed('total', { limit: 1 })).toEqual(month.slice(0, 1));
});

it('reads only the hours of the end users of the key, by their index', async () => {
  await fixture.auditPool.query(
    `insert into budget_hours (organization_id, counter, hour, spent_nano_usd)
     select organization, key || '/user/' || number, timestamp '2027-04-15 12:00', number
     from unnest(array['org-use-large', 'org-use-other']) as organization,
       unnest(array['key-a', 'key-b', '*key-a']) as key, generate_series(1, 2000) as number`,
  );
  await fixture.auditPool.query('analyze budget_hours');
  const client = await fixture.auditPool.connect();
  try {
    const store = createPostgresStatementStore({ pool: client as never, clock: fixture.clock });
    const reads = await readsOf(client, async () => {
      const top = await store.listEndUserSpend({
        ...{ organizationId: 'org-use-large', keyId: 'key-a', period: 'day', hours: undefined, limit: 2 },
      });
      expect(top.map(({ endUser }) => endUser)).toEqual(['2000', '1999']);
    });
    const ofHours = reads.filter(({ table }) => table === 'budget_hours');
    expect(ofHours).toEqual([
      expect.objectContaining({ how: expect.stringMatching(/Index|Bitmap/), rows: 2_000 }),
    ]);
  } finally {
    client.release();
  }
});

it('reads what counts against the windows of an owner, and of its models', async () => {
  const limits = {
    key: {
      window: { 2: 1e6 },
      models: { 'acme/*': { window: { 2: 1e6 } }, 'acme/m': { window: { 5: 1e6 } } },
    },
  };
  await use(10, { limits });
  await use(5, { limits: { key: { window: { 2: 1e6 } } } });
  await fixture.clock.advance(HOUR_MS);
  await use(1, { limits }, true);
  const spend = () =>
    statements.readWindowSpend(
      organizationId,
      [
        { scope: 'key', ownerId: 'key-a' },
        { scope: 'key', ownerId: 'key-a', model: 'acme/*' },
        { scope: 'key', ownerId: 'key-a', model: 'other/*' },
      ],
      [2, 1],
    );
  const windows = (...spends: readonly (readonly [number, number])[]) =>
    spends.map(([spent, held], at) => ({
      ...{ hours: 2 - at, spentNanoUsd: BigInt(spent), heldNanoUsd: BigInt(held) },
    }));
  expect(await spend()).toEqual([
    windows([15, 1], [0, 1]),
    windows([10, 1], [0, 1]),
    windows([0, 0], [0, 0]),
  ]);
  await fixture.clock.advance(DAY_MS);
  expect((await spend())[1]).toEqual(windows([0, 1], [0, 1]));
});
