import { isoTime, timeOrNull, usd } from '@gateway/admin-calls';
import type { GetLedgerReconciliationResponse } from '@gateway/contracts/billing-ledger';

/** Maps reconciliation results to JSON. */

export function ledgerReconciliationView(found: GetLedgerReconciliationResponse) {
  return {
    last_run_at: timeOrNull(found.lastRunUnixMs),
    reconciled_until: timeOrNull(found.reconciledUntilUnixMs),
    known_differences: found.knownDifferences,
    differences: found.differences.map((difference) => ({
      organization_id: difference.organizationId,
      kind: difference.kind,
      generation_id: difference.generationId ?? null,
      expected_usd: usd(difference.expectedNanoUsd),
      found_usd: usd(difference.foundNanoUsd),
      first_seen_at: isoTime(difference.firstSeenUnixMs),
    })),
  };
}
