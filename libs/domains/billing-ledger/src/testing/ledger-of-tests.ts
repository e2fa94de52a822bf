import type { UnixMs } from '@gateway/base';
import { auditLedger } from '@gateway/ledger-audit';
import { createAuditEntry } from '@gateway/test-support';
import { createLedgerFixture, usdNano, type LedgerFixture } from './ledger-fixture';

export interface LedgerOfTest {
  readonly fixture: LedgerFixture;
  /** A new one for each test, with credit. */
  readonly organizationId: string;
}

/**
 * Gives each test of a file two ledgers and an organization at a fixed time, and audits all books after it.
 *
 * @param credit - in dollars
 */
export function withLedger(
  useIn: (ledger: LedgerOfTest) => void,
  {
    at = Date.UTC(2027, 3, 15, 12),
    credit = 10_000,
  }: { readonly at?: number; readonly credit?: number } = {},
): void {
  let fixture: LedgerFixture;
  let tests = 0;

  beforeAll(async () => {
    fixture = await createLedgerFixture();
  });

  afterAll(() => fixture.close());

  beforeEach(async () => {
    await fixture.clock.set(at as UnixMs);
    const organizationId = `org-${(tests += 1)}`;
    const amountNanoUsd = usdNano(credit);
    await fixture.first.store.addCredit(
      { creditId: `credit-${organizationId}`, organizationId, amountNanoUsd, note: 'test' },
      createAuditEntry(),
    );
    useIn({ fixture, organizationId });
  });

  afterEach(async () => {
    expect((await auditLedger(fixture.first.pool)).faults).toEqual([]);
  });
}
