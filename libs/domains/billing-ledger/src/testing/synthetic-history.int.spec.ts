import { DAY_MS } from '@gateway/base';
import { auditLedger } from '@gateway/ledger-audit';
import { createLedgerFixture, type LedgerFixture } from './ledger-fixture';
import { fillLedgerHistory } from './synthetic-history';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});

afterAll(async () => {
  await fixture.close();
});

it('creates a consistent ledger', async () => {
  const untilUnixMs = fixture.clock.now();
  await fillLedgerHistory(fixture.auditPool, {
    generations: 2_000,
    organizations: 7,
    fromUnixMs: untilUnixMs - 3 * DAY_MS,
    untilUnixMs,
  });
  expect(await auditLedger(fixture.auditPool)).toMatchObject({
    faults: [],
    organizations: 7,
    postings: 4_007,
    settledGenerations: 2_000,
  });
});
