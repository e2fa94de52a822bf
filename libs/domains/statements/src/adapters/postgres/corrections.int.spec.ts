import { PREVIEW_LIFETIME_MS } from '../../core/correction';
import type { LedgerBooks } from '../../core/ports';
import { createLedgerRig, usdNano, type LedgerRig } from '@gateway/billing-ledger/testing';
import { createPostgresLedgerBooks } from './ledger-books';

let rig: LedgerRig;
let books: LedgerBooks;

beforeAll(async () => {
  rig = await createLedgerRig();
  books = createPostgresLedgerBooks({ pool: rig.first.pool, clock: rig.clock });
});

afterAll(() => rig.close());

/** Of an organization of its own, with credit of 100; previewed. */
async function previewed(organizationId: string, amount: number) {
  await rig.first.store.addCredit({
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
  expect(await rig.first.store.readBalance('org-all')).toMatchObject({ availableNanoUsd: 0n });
  expect((await previewed('org-more', 101)).preview).toMatchObject({ kind: 'insufficient' });
});

it('can be confirmed for all of the millisecond in which its preview expires, and not in the next', async () => {
  const { correction } = await previewed('org-last', 10);
  const { correction: late } = await previewed('org-late', 10);
  rig.clock.advance(PREVIEW_LIFETIME_MS);
  expect(await books.correctCredit(correction)).toEqual({ kind: 'corrected' });
  rig.clock.advance(1);
  expect(await books.correctCredit(late)).toEqual({ kind: 'unknown' });
});
