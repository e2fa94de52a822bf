import { createAuditEntry } from '@gateway/test-support';
import { PREVIEW_LIFETIME_MS } from '../../core/correction';
import type { StatementStore } from '../../core/ports';
import { createLedgerFixture, usdNano, type LedgerFixture } from '@gateway/billing-ledger/testing';
import { createPostgresStatementStore } from './statement-store';

let fixture: LedgerFixture;
let statements: StatementStore;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  statements = createPostgresStatementStore({ pool: fixture.first.pool, clock: fixture.clock });
});

afterAll(() => fixture.close());

/** Previews a correction for a new organization with a credit of 100. */
async function previewed(organizationId: string, amount: number) {
  await fixture.first.store.addCredit(
    {
      creditId: `crd-${organizationId}`,
      organizationId,
      amountNanoUsd: usdNano(100),
      note: '',
    },
    createAuditEntry(),
  );
  const correction = {
    correctionId: `cor-${organizationId}`,
    organizationId,
    amountNanoUsd: usdNano(amount),
    note: 'x',
  };
  return { correction, preview: await statements.previewCorrection(correction) };
}

it('deducts at most the available balance, to the nano-dollar', async () => {
  const { correction } = await previewed('org-all', 100);
  expect(await statements.correctCredit(correction, createAuditEntry())).toEqual({ kind: 'corrected' });
  expect(await fixture.first.store.readBalance('org-all')).toMatchObject({ availableNanoUsd: 0n });
  expect((await previewed('org-more', 101)).preview).toMatchObject({ kind: 'insufficient' });
});

it('can be confirmed until the end of the millisecond in which its preview expires', async () => {
  const { correction } = await previewed('org-last', 10);
  const { correction: late } = await previewed('org-late', 10);
  await fixture.clock.advance(PREVIEW_LIFETIME_MS);
  expect(await statements.correctCredit(correction, createAuditEntry())).toEqual({ kind: 'corrected' });
  await fixture.clock.advance(1);
  expect(await statements.correctCredit(late, createAuditEntry())).toEqual({ kind: 'unknown' });
});
