import type { UnixMs } from '@gateway/base';
import { leastIdAt } from '@gateway/runtime';
import { beginPatiently } from '@gateway/test-support';
import {
  announce,
  createLedgerFixture,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerFixture,
} from '@gateway/billing-ledger/testing';
import { auditLedger } from '@gateway/ledger-audit';

/** Ids of generations, made on the 1st and the 15th of January 2026. */
const OLD_ID = leastIdAt('gen', Date.UTC(2026, 0, 1)) + 'X';
const KEPT_ID = leastIdAt('gen', Date.UTC(2026, 0, 15)) + 'X';
/** What the 10th is in them. */
const KEPT_TIME = leastIdAt('', Date.UTC(2026, 0, 10)).slice(1);

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  const at = fixture.clock.now();
  const { store } = fixture.first;
  await store.addCredit({ creditId: 'c', organizationId: 'org-a', amountNanoUsd: usdNano(100), note: '' });
  await store.holdCredit(['settled', 'open', 'voided'].map((holdId) => makeHold({ holdId, amount: 20, at })));
  await store.settleGenerations([makeFinished({ generationId: 'settled', cost: 5, at })], announce);
  await store.voidHolds([{ holdId: 'voided', organizationId: 'org-a' }]);
  for (const [generationId, day] of [
    [OLD_ID, Date.UTC(2026, 0, 1)],
    [KEPT_ID, Date.UTC(2026, 0, 15)],
  ] as const) {
    const created = day as UnixMs;
    await store.holdCredit([makeHold({ holdId: generationId, amount: 20, at: created })]);
    await store.settleGenerations([makeFinished({ generationId, cost: 5, at: created })], announce);
  }
});

afterAll(async () => {
  await fixture.close();
});

it('finds a sound ledger sound, and adds it up', async () => {
  expect(await auditLedger(fixture.auditPool)).toEqual({
    faults: [],
    organizations: 1,
    postings: 10,
    openHolds: 1,
    settledGenerations: 3,
    totals: { credited: 100n, charged: 15n, uncollected: 0n },
  });
});

const FORGET = `
  update closed_hold_retention set oldest_retained_hold_id = 'gen-${KEPT_TIME}';
  delete from closed_holds where hold_id = '${OLD_ID}'`;

it('finds a ledger sound that has forgotten what it may', async () => {
  expect(await auditAfter(FORGET)).toEqual([]);
});

/** Each is a way in which books can go wrong that the tables' own checks let pass. */
const TAMPERINGS: [what: string, sql: string][] = [
  [
    'money out of nothing',
    'update accounts set credited_nano_usd = credited_nano_usd + 1, available_nano_usd = available_nano_usd + 1',
  ],
  [
    'a charge without a settlement',
    'update accounts set available_nano_usd = available_nano_usd - 1, charged_nano_usd = charged_nano_usd + 1',
  ],
  ['a lost posting', `delete from postings where reference = 'open'`],
  ['a lost settlement', `delete from postings where kind = 'settlement'`],
  [
    'a posting to another organization',
    `update postings set organization_id = 'org-b' where reference = 'open'`,
  ],
  [
    'a hold that is closed without giving back',
    `with opened as (delete from open_holds where hold_id = 'open' returning *)
     insert into closed_holds
       (hold_id, organization_id, key_id, state, amount_nano_usd, input_nano_usd_per_million,
        cached_input_nano_usd_per_million, output_nano_usd_per_million, reasoning_nano_usd_per_million,
        image_nano_usd_per_million, day, created_unix_ms, deadline_unix_ms, closed_unix_ms)
     select hold_id, organization_id, key_id, 'voided', amount_nano_usd, 0, 0, 0, 0, 0, day, 0, 0, 1 from opened`,
  ],
  ['a hold of another amount', `update open_holds set amount_nano_usd = 21 where hold_id = 'open'`],
  [
    'a settled hold of another charge',
    `update closed_holds set charged_nano_usd = 4 where hold_id = 'settled'`,
  ],
  ['a settled hold of another cost', `update closed_holds set cost_nano_usd = 6 where hold_id = 'settled'`],
  ['a lost hold', `delete from closed_holds where hold_id = 'settled'`],
  [
    'a hold that is open and closed',
    `insert into open_holds
     select hold_id, organization_id, key_id, 0, 0, 0, 0, 0, 0, day, 0, 0 from closed_holds where hold_id = 'voided'`,
  ],
  [
    'a lost hold of a time whose holds are kept',
    `${FORGET}; delete from closed_holds where hold_id = '${KEPT_ID}'`,
  ],
  [
    'a forgotten hold that was never closed',
    `${FORGET}; delete from postings where reference = '${OLD_ID}' and kind = 'settlement'`,
  ],
  [
    "a day's figure whose holds are forgotten",
    `${FORGET}; update daily_spend set spent_nano_usd = spent_nano_usd + 1`,
  ],
  ["a day's figure that is off", `update daily_spend set spent_nano_usd = 6 where key_id = ''`],
  ["a key's day that is gone", `delete from daily_spend where key_id <> ''`],
  ['held for a day without a hold', `insert into daily_spend values ('org-a', '2025-12-31', '', 0, 5)`],
  ['a credit of another amount', 'update credits set amount_nano_usd = 99'],
  ['a credit that was never posted', `insert into credits values ('x', 'org-a', 5, '', 1)`],
  [
    'an answer without a charge',
    `insert into idempotency_claims
     values ('scope', 'org-a', '', 'gen-x', '{gen-x}', 'completed', 1, 1, '{}')`,
  ],
];

it.each(TAMPERINGS)('finds %s', async (_what, sql) => {
  expect(await auditAfter(sql)).not.toEqual([]);
});

async function auditAfter(sql: string): Promise<readonly string[]> {
  const client = await fixture.first.pool.connect();
  // The audit reads in the tampering's own transaction, which is then undone.
  const inTampered = {
    connect: () =>
      Promise.resolve({
        query: (text: string) =>
          /^(begin|rollback)/.test(text) ? Promise.resolve({ rows: [] }) : client.query(text),
        release: () => undefined,
      }),
  };
  try {
    await beginPatiently(client);
    await client.query(sql);
    return (await auditLedger(inTampered as unknown as typeof fixture.auditPool)).faults;
  } finally {
    await client.query('rollback');
    client.release();
  }
}
