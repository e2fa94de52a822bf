import { DAY_MS } from '@gateway/base';
import { auditLedger } from '@gateway/ledger-audit';
import { createLedgerRig, type LedgerRig } from './ledger-rig';
import { fillLedgerHistory } from './synthetic-history';

let rig: LedgerRig;

beforeAll(async () => {
  rig = await createLedgerRig();
});

afterAll(async () => {
  await rig.close();
});

it('makes books that are as sound as those that were kept', async () => {
  const untilUnixMs = rig.clock.now();
  await fillLedgerHistory(rig.auditPool, {
    generations: 2_000,
    organizations: 7,
    fromUnixMs: untilUnixMs - 3 * DAY_MS,
    untilUnixMs,
  });
  expect(await auditLedger(rig.auditPool)).toMatchObject({
    faults: [],
    organizations: 7,
    postings: 4_007,
    settledGenerations: 2_000,
  });
});
