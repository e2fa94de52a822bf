import { formatUsd, nanoUsd } from '@gateway/base';
import {
  AuditOutcome,
  MemberRole,
  Scope,
  type AuditEntry,
  type Key,
  type Member,
  type Organization,
} from '@gateway/contracts/auth';
import type { GetBalanceResponse } from '@gateway/contracts/billing-ledger';

/** How the messages of the other domains look as JSON of this API. Amounts are decimal strings of US dollars. */

const SCOPES: Readonly<Record<Scope, string | undefined>> = {
  [Scope.SCOPE_UNSPECIFIED]: undefined,
  [Scope.SCOPE_CHAT]: 'chat',
  [Scope.SCOPE_USAGE_READ]: 'usage:read',
};

const OUTCOMES: Readonly<Record<AuditOutcome, string>> = {
  [AuditOutcome.AUDIT_OUTCOME_UNSPECIFIED]: 'unknown',
  [AuditOutcome.AUDIT_OUTCOME_STARTED]: 'started',
  [AuditOutcome.AUDIT_OUTCOME_DONE]: 'done',
  [AuditOutcome.AUDIT_OUTCOME_FAILED]: 'failed',
};

const ROLES: Readonly<Record<MemberRole, string>> = {
  [MemberRole.MEMBER_ROLE_UNSPECIFIED]: 'unknown',
  [MemberRole.MEMBER_ROLE_OPERATOR]: 'operator',
};

export function memberView({ id, email, role }: Member) {
  return { id, email, role: ROLES[role] };
}

export function organizationView(organization: Organization) {
  const { limits } = organization;
  return {
    id: organization.id,
    name: organization.name,
    suspended: organization.suspended,
    suspended_reason: organization.suspendedReason ?? null,
    limits: {
      requests_per_minute: limits?.requestsPerMinute ?? null,
      tokens_per_minute: limits?.tokensPerMinute ?? null,
      daily_budget_usd: usdOrNull(limits?.dailyBudgetNanoUsd),
      concurrency: limits?.concurrency ?? null,
      max_output_tokens: limits?.maxOutputTokens ?? null,
      multiple_completions: limits?.multipleCompletions ?? false,
    },
    created_at: isoTime(organization.createdUnixMs),
  };
}

export function keyView(key: Key) {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    last4: key.last4,
    scopes: key.scopes.flatMap((scope) => SCOPES[scope] ?? []),
    allowed_models: key.allowedModels,
    ip_allowlist: key.ipAllowlist,
    expires_on: key.expiresOn ?? null,
    requests_per_minute: key.limits?.requestsPerMinute ?? null,
    tokens_per_minute: key.limits?.tokensPerMinute ?? null,
    concurrency: key.limits?.concurrency ?? null,
    daily_budget_usd: usdOrNull(key.limits?.dailyBudgetNanoUsd),
    created_at: isoTime(key.createdUnixMs),
    revoked_at: key.revokedUnixMs === undefined ? null : isoTime(key.revokedUnixMs),
  };
}

export function balanceView(balance: GetBalanceResponse) {
  return {
    total_credits_usd: usd(balance.totalCreditsNanoUsd),
    total_usage_usd: usd(balance.totalUsageNanoUsd),
    balance_usd: usd(balance.balanceNanoUsd),
    reserved_usd: usd(balance.heldNanoUsd),
    available_usd: usd(balance.availableNanoUsd),
  };
}

export function auditEntryView(entry: AuditEntry) {
  return {
    id: entry.id,
    created_at: isoTime(entry.createdUnixMs),
    actor: {
      id: entry.actor?.id ?? '',
      label: entry.actor?.label ?? '',
      ip_address: entry.actor?.ipAddress ?? '',
    },
    organization_id: entry.organizationId ?? null,
    action: entry.action,
    target: entry.target,
    details: JSON.parse(entry.detailsJson) as unknown,
    outcome: OUTCOMES[entry.outcome],
  };
}

/** One page of a list. */
export function pageView(data: readonly unknown[], nextPageToken: string) {
  return { data, next_page_token: nextPageToken === '' ? null : nextPageToken };
}

export function isoTime(unixMs: bigint): string {
  return new Date(Number(unixMs)).toISOString();
}

function usd(amountNanoUsd: bigint): string {
  return formatUsd(nanoUsd(amountNanoUsd));
}

function usdOrNull(amountNanoUsd: bigint | undefined): string | null {
  return amountNanoUsd === undefined ? null : usd(amountNanoUsd);
}
