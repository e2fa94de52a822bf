import {
  announce,
  createLedgerRig,
  makeFinished,
  makeHold,
  usdNano,
  type LedgerRig,
} from '../testing/ledger-rig';
import { auditLedger } from './audit-ledger';

let rig: LedgerRig;

beforeAll(async () => {
  rig = await createLedgerRig();
  const at = rig.clock.now();
  const { store } = rig.first;
  await store.addCredit({ creditId: 'c', organizationId: 'org-a', amountNanoUsd: usdNano(100), note: '' });
  await store.holdCredit(['settled', 'open', 'voided'].map((holdId) => makeHold({ holdId, amount: 20, at })));
  await store.settleGenerations([makeFinished({ generationId: 'settled', cost: 5, at })], announce);
  await store.voidHolds([{ holdId: 'voided', organizationId: 'org-a' }]);
});

afterAll(async () => {
  await rig.close();
});

it('finds a sound ledger sound, and adds it up', async () => {
  expect(await auditLedger(rig.auditPool)).toEqual({
    faults: [],
    organizations: 1,
    postings: 6,
    openHolds: 1,
    settledGenerations: 1,
    totals: { credited: 100n, charged: 5n, uncollected: 0n },
  });
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
    `update holds set state = 'voided', closed_unix_ms = 1 where hold_id = 'open'`,
  ],
  ['a hold of another amount', `update holds set amount_nano_usd = 21 where hold_id = 'open'`],
  ['a settled hold of another charge', `update holds set charged_nano_usd = 4 where hold_id = 'settled'`],
  ['a settled hold of another cost', `update holds set cost_nano_usd = 6 where hold_id = 'settled'`],
  ['a lost hold', `delete from holds where hold_id = 'settled'`],
  ["a day's figure that is off", `update daily_spend set spent_nano_usd = 6 where key_id = ''`],
  ["a key's day that is gone", `delete from daily_spend where key_id <> ''`],
  ['held for a day without a hold', `insert into daily_spend values ('org-a', '2026-01-01', '', 0, 5)`],
  ['a credit of another amount', 'update credits set amount_nano_usd = 99'],
  ['a credit that was never posted', `insert into credits values ('x', 'org-a', 5, '', 1)`],
  [
    'an answer without a charge',
    `insert into idempotency_claims
     values ('scope', 'org-a', '', 'gen-x', '{gen-x}', 'completed', 1, 1, '{}')`,
  ],
];

it.each(TAMPERINGS)('finds %s', async (_what, sql) => {
  const client = await rig.first.pool.connect();
  // The audit reads in the tampering's own transaction, which is then undone.
  const inTampered = {
    connect: () =>
      Promise.resolve({
        query: (text: string) =>
          /^(begin|rollback)/.test(text) ? Promise.resolve({ rows: [] }) : client.query(text),
        release: () => undefined,
      }),
  };
  await client.query('begin');
  await client.query(sql);
  const { faults } = await auditLedger(inTampered as unknown as typeof rig.auditPool);
  await client.query('rollback');
  client.release();
  expect(faults).not.toEqual([]);
});
