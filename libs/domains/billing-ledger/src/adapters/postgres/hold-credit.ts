import { nanoUsd } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { HoldOutcome, HoldRequest } from '../../core/credit/hold';

const HOLD_CREDIT = {
  name: 'billing_ledger.hold_credit',
  text: 'select * from hold_credit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)',
};

const HELD: HoldOutcome = { kind: 'held' };

interface HoldRow {
  readonly outcome: string;
  readonly available_nano_usd: bigint | null;
  readonly used_nano_usd: bigint | null;
}

/** One statement in an implicit transaction: one round trip and one commit per batch. */
export async function holdCredit(
  pool: Pool,
  holds: readonly HoldRequest[],
  nowUnixMs: number,
): Promise<HoldOutcome[]> {
  const { rows } = await pool.query<HoldRow>({ ...HOLD_CREDIT, values: valuesOf(holds, nowUnixMs) });
  return holds.map((hold, index) => outcomeOf(hold, rows[index]));
}

/** In the order of the function's arguments. */
function valuesOf(holds: readonly HoldRequest[], nowUnixMs: number): unknown[] {
  return [
    textArray(holds, (hold) => hold.holdId),
    textArray(holds, (hold) => hold.organizationId),
    textArray(holds, (hold) => hold.keyId),
    plainArray(holds, (hold) => hold.amountNanoUsd),
    plainArray(holds, (hold) => hold.prices.inputNanoUsdPerMillion),
    plainArray(holds, (hold) => hold.prices.cachedInputNanoUsdPerMillion),
    plainArray(holds, (hold) => hold.prices.outputNanoUsdPerMillion),
    plainArray(holds, (hold) => hold.prices.reasoningNanoUsdPerMillion),
    plainArray(holds, (hold) => hold.prices.imageNanoUsdPerMillion),
    plainArray(holds, (hold) => hold.organizationDailyBudgetNanoUsd),
    plainArray(holds, (hold) => hold.keyDailyBudgetNanoUsd),
    plainArray(holds, (hold) => hold.day),
    plainArray(holds, (hold) => hold.createdUnixMs),
    plainArray(holds, (hold) => hold.deadlineUnixMs),
    textArray(holds, (hold) => hold.idempotencyScope),
    nowUnixMs,
  ];
}

function outcomeOf(hold: HoldRequest, row: HoldRow | undefined): HoldOutcome {
  switch (row?.outcome) {
    case 'held':
      return HELD;
    case 'foreign':
      return { kind: 'foreign' };
    case 'closed':
      return { kind: 'closed' };
    case 'insufficient_credits':
      return { kind: 'insufficient_credits', availableNanoUsd: nanoUsd(row.available_nano_usd ?? 0n) };
    case 'key_budget_exceeded':
      return budgetExceeded('key', hold.keyDailyBudgetNanoUsd, row);
    case 'organization_budget_exceeded':
      return budgetExceeded('organization', hold.organizationDailyBudgetNanoUsd, row);
    default:
      throw new Error(`hold_credit returned the outcome "${row?.outcome}"`);
  }
}

function budgetExceeded(
  scope: 'key' | 'organization',
  limitNanoUsd: HoldRequest['keyDailyBudgetNanoUsd'],
  row: HoldRow,
): HoldOutcome {
  return {
    kind: 'daily_budget_exceeded',
    scope,
    limitNanoUsd: limitNanoUsd ?? nanoUsd(0n),
    usedNanoUsd: nanoUsd(row.used_nano_usd ?? 0n),
  };
}
