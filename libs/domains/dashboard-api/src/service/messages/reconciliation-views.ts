import type { GetLedgerReconciliationResponse } from '@gateway/contracts/billing-ledger';
import type { ComparedSums, GetUsageReconciliationResponse } from '@gateway/contracts/generation-query';
import { isoTime, timeOrNull, usd } from './views';

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

export function usageReconciliationView(found: GetUsageReconciliationResponse) {
  return {
    compared_until: timeOrNull(found.comparedUntilUnixMs),
    known_differences: found.knownDifferences,
    differences: found.differences.map((difference) => ({
      organization_id: difference.organizationId,
      kind: difference.kind,
      starts_at: isoTime(difference.startsUnixMs),
      expected: sumsView(difference.expected),
      found: sumsView(difference.found),
      first_seen_at: isoTime(difference.firstSeenUnixMs),
    })),
  };
}

function sumsView(sums: ComparedSums | undefined) {
  if (!sums) throw new Error('the difference has no sums');
  return {
    generations: Number(sums.generations),
    cost_usd: usd(sums.costNanoUsd),
    charged_usd: usd(sums.chargedNanoUsd),
  };
}
