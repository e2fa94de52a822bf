import { isoTime, timeOrNull, usd, usdOrNull } from '@gateway/admin-calls';
import type { UnixMs } from '@gateway/base';
import { remainderOf, type Balance } from '@gateway/billing-ledger';
import type { LedgerHealth } from '@gateway/billing-ledger/core';
import type { CreditAlert } from '../core/credit-alert';
import { ownerKindOf, type SentBudgetAlert } from '../core/budget-alert';
import type { BudgetSpend, EndUserSpend, LedgerReconciliation, WindowSpend } from '../core/ports';
import type { Credit, Entry, StatementDay, StatementLine, StatementMonth } from '../core/statement';

export function balanceView(balance: Balance) {
  return {
    total_credits_usd: usd(balance.creditedNanoUsd),
    total_usage_usd: usd(balance.chargedNanoUsd),
    balance_usd: usd(remainderOf(balance)),
    reserved_usd: usd(balance.heldNanoUsd),
    available_usd: usd(balance.availableNanoUsd),
  };
}

/** Compares with the current balance: credit may have been added since the alert was raised. */
export function lowBalanceView({ thresholdNanoUsd, belowSince }: CreditAlert, { availableNanoUsd }: Balance) {
  if (thresholdNanoUsd === undefined || belowSince === undefined || availableNanoUsd >= thresholdNanoUsd)
    return null;
  return { threshold_usd: usd(thresholdNanoUsd), since: isoTime(belowSince) };
}

export function creditAlertView(alert: CreditAlert) {
  return {
    threshold_usd: usdOrNull(alert.thresholdNanoUsd),
    webhook_origin: originOf(alert.webhookUrl),
    emails: alert.emails,
    last_sent_at: timeOrNull(alert.lastSent),
    last_failure: alert.lastFailure ?? null,
    budget_shares: alert.budgetShares,
  };
}

/** Scheme and host: the path of a webhook URL may be a secret. */
function originOf(url: string | undefined): string | null {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : null;
}

export function monthView(sums: StatementMonth) {
  return {
    month: sums.month,
    opening_balance_usd: usd(sums.openingNanoUsd),
    added_usd: usd(sums.addedNanoUsd),
    corrected_usd: usd(sums.correctedNanoUsd),
    used_usd: usd(sums.usedNanoUsd),
    closing_balance_usd: usd(sums.closingNanoUsd),
  };
}

export function dayView(day: StatementDay) {
  return {
    day: day.day,
    added_usd: usd(day.addedNanoUsd),
    corrected_usd: usd(day.correctedNanoUsd),
    used_usd: usd(day.usedNanoUsd),
    closing_balance_usd: usd(day.closingNanoUsd),
  };
}

export function lineView({ posted, kind, reference, amountNanoUsd, balanceNanoUsd, note }: StatementLine) {
  return {
    posted_at: isoTime(posted),
    kind,
    reference,
    amount_usd: usd(amountNanoUsd),
    balance_usd: usd(balanceNanoUsd),
    note: note ?? null,
  };
}

export function creditView({ creditId, amountNanoUsd, posted, note }: Credit) {
  return {
    posted_at: isoTime(posted),
    kind: amountNanoUsd < 0n ? ('correction' as const) : ('credit' as const),
    reference: creditId,
    amount_usd: usd(amountNanoUsd),
    note,
  };
}

export function entryView(entry: Entry) {
  return {
    kind: entry.kind,
    posted_at: isoTime(entry.posted),
    credit_usd: usd(entry.creditNanoUsd),
    held_usd: usd(entry.heldNanoUsd),
    revenue_usd: usd(entry.revenueNanoUsd),
    uncollected_usd: usd(-entry.uncollectedNanoUsd),
  };
}

export function budgetAlertView(alert: SentBudgetAlert) {
  return {
    id: alert.alertId,
    scope: alert.endUserCount === undefined ? ownerKindOf(alert) : ('end_user' as const),
    owner_id: alert.ownerId || alert.organizationId,
    owner_name: alert.ownerName,
    period: alert.period,
    hours: alert.hours ?? null,
    model: alert.model ?? null,
    period_start: alert.periodStart || null,
    share_percent: alert.sharePercent,
    budget_usd: usd(alert.budgetNanoUsd),
    spent_usd: usd(alert.spentNanoUsd),
    reached_at: isoTime(alert.reachedAt),
    end_users: alert.endUserCount ?? null,
    delivered: alert.delivered,
    undelivered: alert.undelivered,
  };
}

export function windowSpendView({ hours, spentNanoUsd, heldNanoUsd }: WindowSpend) {
  return { hours, spent_usd: usd(spentNanoUsd), held_usd: usd(heldNanoUsd) };
}

export function endUserSpendView({ endUser, spentNanoUsd, heldNanoUsd }: EndUserSpend) {
  return { end_user: endUser || null, spent_usd: usd(spentNanoUsd), held_usd: usd(heldNanoUsd) };
}

export function budgetSpendView(spend: BudgetSpend) {
  return {
    today_usd: usd(spend.todayNanoUsd),
    this_week_usd: usd(spend.thisWeekNanoUsd),
    this_month_usd: usd(spend.thisMonthNanoUsd),
    total_usd: usd(spend.totalNanoUsd),
    held_usd: usd(spend.heldNanoUsd),
  };
}

export function openHoldsView(
  { openHolds, heldNanoUsd, oldestHold, overdueHolds }: LedgerHealth,
  now: UnixMs,
) {
  return {
    count: Number(openHolds),
    held_usd: usd(heldNanoUsd),
    oldest_age_ms: oldestHold === undefined ? null : Math.max(0, now - oldestHold),
    overdue: Number(overdueHolds),
  };
}

export function reconciliationView(found: LedgerReconciliation) {
  return {
    last_run_at: timeOrNull(found.lastRun),
    reconciled_until: timeOrNull(found.reconciledUntil),
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
