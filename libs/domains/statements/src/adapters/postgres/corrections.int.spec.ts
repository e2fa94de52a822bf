import { PREVIEW_LIFETIME_MS } from '../../core/correction';
import type { LedgerBooks } from '../../core/ports';
import { createLedgerFixture, usdNano, type LedgerFixture } from '@gateway/billing-ledger/testing';
import { createPostgresLedgerBooks } from './ledger-books';

let fixture: LedgerFixture;
let books: LedgerBooks;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  books = createPostgresLedgerBooks({ pool: fixture.first.pool, clock: fixture.clock });
});

afterAll(() => fixture.close());

/** Of an organization of its own, with credit of 100; previewed. */
async function previewed(organizationId: string, amount: number) {
  await fixture.first.store.addCredit({
    creditId: `crd-${organizationId}`,
    organizationId,
    amountNanoUsd: usdNano(100),
    note: '',
  });
  const correction = {
    correctionId: `cor-${organizationId}`,
    organizationId,
    amountNanoUsd: usdNano(amount),
    note: 'x',
  };
  return { correction, preview: await books.previewCorrection(correction) };
}

it('takes all that is available, and not a nano-dollar more', async () => {
  const { correction } = await previewed('org-all', 100);
  expect(await books.correctCredit(correction)).toEqual({ kind: 'corrected' });
  expect(await fixture.first.store.readBalance('org-all')).toMatchObject({ availableNanoUsd: 0n });
  expect((await previewed('org-more', 101)).preview).toMatchObject({ kind: 'insufficient' });
});

it('can be confirmed for all of the millisecond in which its preview expires, and not in the next', async () => {
  const { correction } = await previewed('org-last', 10);
  const { correction: late } = await previewed('org-late', 10);
  fixture.clock.advance(PREVIEW_LIFETIME_MS);
  expect(await books.correctCredit(correction)).toEqual({ kind: 'corrected' });
  fixture.clock.advance(1);
  expect(await books.correctCredit(late)).toEqual({ kind: 'unknown' });
});
