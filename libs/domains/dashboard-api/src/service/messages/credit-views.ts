import { isoTime, timeOrNull, usd } from '@gateway/admin-calls';
import type {
  Credit,
  CreditAlert,
  GetBalanceResponse,
  LedgerEntry,
  StatementDay,
  StatementLine,
  StatementMonth,
} from '@gateway/contracts/billing-ledger';

const NO_BALANCE: GetBalanceResponse = {
  totalCreditsNanoUsd: 0n,
  totalUsageNanoUsd: 0n,
  balanceNanoUsd: 0n,
  heldNanoUsd: 0n,
  availableNanoUsd: 0n,
};

export function balanceView(balance: GetBalanceResponse = NO_BALANCE) {
  return {
    total_credits_usd: usd(balance.totalCreditsNanoUsd),
    total_usage_usd: usd(balance.totalUsageNanoUsd),
    balance_usd: usd(balance.balanceNanoUsd),
    reserved_usd: usd(balance.heldNanoUsd),
    available_usd: usd(balance.availableNanoUsd),
  };
}

/** Compares with the current balance: credit may have been added since the ledger raised the alert. */
export function lowBalanceView(alert: CreditAlert | undefined, { availableNanoUsd }: GetBalanceResponse) {
  const { thresholdNanoUsd, belowSinceUnixMs } = alert ?? {};
  if (
    thresholdNanoUsd === undefined ||
    belowSinceUnixMs === undefined ||
    availableNanoUsd >= thresholdNanoUsd
  ) {
    return null;
  }
  return { threshold_usd: usd(thresholdNanoUsd), since: isoTime(belowSinceUnixMs) };
}

/** Scheme and host: the path of a webhook URL may be a secret. */
function originOf(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).origin : null;
}

export function creditAlertView(alert: CreditAlert | undefined) {
  return {
    threshold_usd: alert?.thresholdNanoUsd === undefined ? null : usd(alert.thresholdNanoUsd),
    webhook_origin: originOf(alert?.webhookUrl ?? null),
    emails: alert?.emails ?? [],
    last_sent_at: timeOrNull(alert?.lastSentUnixMs),
    last_failure: alert?.lastFailure ?? null,
    budget_shares: alert?.budgetShares ?? [],
  };
}

export function statementMonthView(sums: StatementMonth | undefined) {
  if (!sums) throw new Error('the statement has no sums');
  return {
    month: sums.month,
    opening_balance_usd: usd(sums.openingNanoUsd),
    added_usd: usd(sums.addedNanoUsd),
    corrected_usd: usd(sums.correctedNanoUsd),
    used_usd: usd(sums.usedNanoUsd),
    closing_balance_usd: usd(sums.closingNanoUsd),
  };
}

export function statementDayView(day: StatementDay) {
  return {
    day: day.day,
    added_usd: usd(day.addedNanoUsd),
    corrected_usd: usd(day.correctedNanoUsd),
    used_usd: usd(day.usedNanoUsd),
    closing_balance_usd: usd(day.closingNanoUsd),
  };
}

export function creditView({ creditId, amountNanoUsd, postedUnixMs, note }: Credit) {
  return {
    posted_at: isoTime(postedUnixMs),
    kind: amountNanoUsd < 0n ? ('correction' as const) : ('credit' as const),
    reference: creditId,
    amount_usd: usd(amountNanoUsd),
    note,
  };
}

const LINE_KINDS = ['credit', 'correction', 'settlement'] as const;

export function statementLineView(line: StatementLine) {
  const kind = LINE_KINDS.find((name) => name === line.kind);
  if (!kind) throw new Error(`unknown kind of a statement line: ${line.kind}`);
  return {
    posted_at: isoTime(line.postedUnixMs),
    kind,
    reference: line.reference,
    amount_usd: usd(line.amountNanoUsd),
    balance_usd: usd(line.balanceNanoUsd),
    note: line.note ?? null,
  };
}

const ENTRY_KINDS = ['credit', 'correction', 'hold', 'extension', 'settlement', 'void'] as const;

export function ledgerEntryView(entry: LedgerEntry) {
  const kind = ENTRY_KINDS.find((name) => name === entry.kind);
  if (!kind) throw new Error(`unknown kind of a ledger entry: ${entry.kind}`);
  return {
    kind,
    posted_at: isoTime(entry.postedUnixMs),
    credit_usd: usd(entry.creditNanoUsd),
    held_usd: usd(entry.heldNanoUsd),
    revenue_usd: usd(entry.revenueNanoUsd),
    uncollected_usd: usd(-entry.uncollectedNanoUsd),
  };
}
