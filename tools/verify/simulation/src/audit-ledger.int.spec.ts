import type { UnixMs } from '@gateway/base';
import { smallestIdAt } from '@gateway/runtime';
import { createAuditEntry, beginIdleTransaction } from '@gateway/test-support';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { auditLedger } from '@gateway/ledger-audit';

/** Ids of generations created on 1 and 15 January 2026. */
const OLD_ID = smallestIdAt('gen', Date.UTC(2026, 0, 1)) + 'X';
const RETAINED_ID = smallestIdAt('gen', Date.UTC(2026, 0, 15)) + 'X';
/** The time characters of 10 January. */
const RETAINED_FROM = smallestIdAt('', Date.UTC(2026, 0, 10)).slice(1);

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  const at = fixture.clock.now();
  const { store } = fixture.first;
  await store.addCredit(
    { creditId: 'c', organizationId: 'org-a', amountNanoUsd: usdNano(100), note: '' },
    createAuditEntry(),
  );
  const owners = { runId: 'run-a', projectId: 'proj-a', limits: { run: { total: 90 } } };
  await store.holdCredit(
    ['settled', 'open', 'voided'].map((holdId) => makeHold({ holdId, amount: 20, at, ...owners })),
  );
  await store.extendHolds([makeHold({ holdId: 'open', amount: 30, at })]);
  await store.settleGenerations([makeFinished({ generationId: 'settled', cost: 5, at })], announce);
  await store.voidHolds([{ holdId: 'voided', organizationId: 'org-a' }]);
  for (const [generationId, day] of [
    [OLD_ID, Date.UTC(2026, 0, 1)],
    [RETAINED_ID, Date.UTC(2026, 0, 15)],
  ] as const) {
    const created = day as UnixMs;
    await fixture.clock.set(created);
    await store.holdCredit([makeHold({ holdId: generationId, amount: 20, at: created })]);
    await store.settleGenerations([makeFinished({ generationId, cost: 5, at: created })], announce);
  }
  await fixture.clock.set(at);
});

afterAll(async () => {
  await fixture.close();
});

it('finds nothing in a consistent ledger, and returns its totals', async () => {
  expect(await auditLedger(fixture.auditPool)).toEqual({
    faults: [],
    organizations: 1,
    postings: 11,
    openHolds: 1,
    settledGenerations: 3,
    totals: { credited: 100n, charged: 15n, uncollected: 0n },
  });
});

const EXPIRE = `
  update closed_hold_retention set oldest_retained_hold_id = 'gen-${RETAINED_FROM}';
  delete from closed_holds where hold_id = '${OLD_ID}'`;

it('accepts deleted holds that are past their retention', async () => {
  expect(await auditAfter(EXPIRE)).toEqual([]);
});

/** Inconsistencies that the constraints of the tables allow. */
const CORRUPTIONS: [what: string, sql: string][] = [
  [
    'an increased balance',
    'update accounts set credited_nano_usd = credited_nano_usd + 1, available_nano_usd = available_nano_usd + 1',
  ],
  [
    'a charge without a settlement',
    'update accounts set available_nano_usd = available_nano_usd - 1, charged_nano_usd = charged_nano_usd + 1',
  ],
  ['a deleted posting', `delete from postings where reference = 'open'`],
  ['a deleted settlement', `delete from postings where kind = 'settlement'`],
  [
    'a posting of another organization',
    `update postings set organization_id = 'org-b' where reference = 'open'`,
  ],
  [
    'a hold that is closed without a void posting',
    `with opened as (delete from open_holds where hold_id = 'open' returning *)
     insert into closed_holds
       (hold_id, organization_id, key_id, state, amount_nano_usd, prices, day, created_unix_ms, deadline_unix_ms, closed_unix_ms)
     select hold_id, organization_id, key_id, 'voided', amount_nano_usd, prices, day, 0, 0, 1 from opened`,
  ],
  ['a hold with another amount', `update open_holds set amount_nano_usd = 21 where hold_id = 'open'`],
  ['a deleted extension', `delete from postings where kind = 'extension'`],
  ['an extension to another amount', `update postings set reference = 'open+31' where kind = 'extension'`],
  ['an extension of another hold', `update postings set reference = 'voided+30' where kind = 'extension'`],
  [
    'a settled hold with another charge',
    `update closed_holds set charged_nano_usd = 4 where hold_id = 'settled'`,
  ],
  ['a settled hold with another cost', `update closed_holds set cost_nano_usd = 6 where hold_id = 'settled'`],
  ['a deleted hold', `delete from closed_holds where hold_id = 'settled'`],
  [
    'a hold that is both open and closed',
    `insert into open_holds
     select hold_id, organization_id, key_id, 0, prices, day, 0, 0 from closed_holds where hold_id = 'voided'`,
  ],
  [
    'a deleted hold within its retention',
    `${EXPIRE}; delete from closed_holds where hold_id = '${RETAINED_ID}'`,
  ],
  [
    'a hold past its retention that was never closed',
    `${EXPIRE}; delete from postings where reference = '${OLD_ID}' and kind = 'settlement'`,
  ],
  [
    'a changed daily total whose holds are past their retention',
    `${EXPIRE}; update budget_accounts set spent_nano_usd = spent_nano_usd + 1 where day <> 'infinity'`,
  ],
  ['a changed daily total', `update budget_accounts set spent_nano_usd = 6 where owner_id = ''`],
  [
    'a deleted daily total of a key',
    `delete from budget_accounts where owner_id <> '' and day <> 'infinity'`,
  ],
  [
    'a held daily total without a hold',
    `insert into budget_accounts values ('org-a', '', '2025-12-31', 0, 5)`,
  ],
  [
    'a changed total of a key',
    `update budget_accounts set spent_nano_usd = spent_nano_usd + 1 where day = 'infinity'`,
  ],
  [
    'a changed amount held by a key',
    `update budget_accounts set held_nano_usd = held_nano_usd + 1 where day = 'infinity'`,
  ],
  ['a deleted total of a key', `delete from budget_accounts where day = 'infinity'`],
  [
    'a changed daily total of a project',
    `update budget_accounts set spent_nano_usd = spent_nano_usd + 1 where owner_id = 'proj-a' and day <> 'infinity'`,
  ],
  [
    'a changed amount held by a project',
    `update budget_accounts set held_nano_usd = held_nano_usd + 1 where owner_id = 'proj-a' and day <> 'infinity'`,
  ],
  ['a hold of another project', `update open_holds set project_id = 'proj-b'`],
  ['a deleted project account', `delete from budget_accounts where owner_id = 'proj-a'`],
  ['a changed amount held by a run', 'update runs set held_nano_usd = 31'],
  ['a changed amount spent by a run', 'update runs set spent_nano_usd = 6'],
  ['a run that spent and holds more than its budget', 'update runs set budget_nano_usd = 34'],
  ['a deleted run', 'delete from runs'],
  ['a hold of another run', `update open_holds set run_id = 'run-b'`],
  ['a run without a hold', `insert into runs values ('org-a', 'run-b', 5, 1, 0, 9999999999999, 1)`],
  ['a credit with another amount', 'update credits set amount_nano_usd = 99'],
  ['a credit without a posting', `insert into credits values ('x', 'org-a', 5, '', 1)`],
  [
    'a stored response without a settlement',
    `insert into idempotency_claims
     values ('scope', 'org-a', '', 'gen-x', '{gen-x}', 'completed', 1, 1, 'key', 'encrypted')`,
  ],
];

it.each(CORRUPTIONS)('finds %s', async (_what, sql) => {
  expect(await auditAfter(sql)).not.toEqual([]);
});

async function auditAfter(sql: string): Promise<readonly string[]> {
  const client = await fixture.first.pool.connect();
  // The audit reads inside the transaction of the corruption, which is rolled back.
  const corruptedPool = {
    connect: () =>
      Promise.resolve({
        query: (text: string) =>
          /^(begin|rollback)/.test(text) ? Promise.resolve({ rows: [] }) : client.query(text),
        release: () => undefined,
      }),
  };
  try {
    await beginIdleTransaction(client);
    await client.query(sql);
    return (await auditLedger(corruptedPool as unknown as typeof fixture.auditPool)).faults;
  } finally {
    await client.query('rollback');
    client.release();
  }
}
