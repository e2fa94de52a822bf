import { isoTime, timeOrNull, usdOrNull } from '@gateway/admin-calls';
import { OPERATOR_LABEL, utcDay, type UnixMs } from '@gateway/base';
import {
  Scope,
  type AuditEntry,
  type Key,
  type KeyOwner,
  type PreviousSecret,
} from '@gateway/contracts/auth';

/** Maps messages of the other domains to JSON. Amounts are decimal strings of US dollars. */

const SCOPES: Readonly<Record<Scope, 'chat' | 'usage:read' | undefined>> = {
  [Scope.SCOPE_UNSPECIFIED]: undefined,
  [Scope.SCOPE_CHAT]: 'chat',
  [Scope.SCOPE_USAGE_READ]: 'usage:read',
};

interface KeyViewContext {
  readonly now: UnixMs;
  /** Customers do not see which operator created a key. */
  readonly isOperator: boolean;
}

export function keyView(key: Key, { now, isOperator }: KeyViewContext) {
  const state = stateOf(key, now);
  return {
    id: key.id,
    organization_id: key.organizationId,
    kind: key.forSession ? ('playground' as const) : ('standard' as const),
    name: key.name,
    last4: key.last4,
    scopes: key.scopes.flatMap((scope) => SCOPES[scope] ?? []),
    allowed_models: key.allowedModels.length === 0 ? null : key.allowedModels,
    ip_allowlist: key.ipAllowlist,
    expires_on: key.expiresOn ?? null,
    expires_at: timeOrNull(key.expiresUnixMs),
    requests_per_minute: key.limits?.requestsPerMinute ?? null,
    tokens_per_minute: key.limits?.tokensPerMinute ?? null,
    concurrency: key.limits?.concurrency ?? null,
    daily_budget_usd: usdOrNull(key.limits?.dailyBudgetNanoUsd),
    monthly_budget_usd: usdOrNull(key.limits?.monthlyBudgetNanoUsd),
    total_budget_usd: usdOrNull(key.limits?.totalBudgetNanoUsd),
    project_id: key.projectId ?? null,
    created_at: isoTime(key.createdUnixMs),
    revoked_at: timeOrNull(key.revokedUnixMs),
    state,
    version: key.version,
    owner: keyOwnerView(key.owner, isOperator),
    previous_secret: state === 'active' ? previousSecretView(key.previousSecret, now) : null,
  };
}

function keyOwnerView(owner: KeyOwner | undefined, isOperator: boolean) {
  if (!owner || (owner.operator && !isOperator)) return null;
  return { id: owner.memberId, email: owner.email, has_left: owner.hasLeft };
}

function previousSecretView(previous: PreviousSecret | undefined, now: UnixMs) {
  if (!previous || previous.worksUntilUnixMs <= BigInt(now)) return null;
  return { last4: previous.last4, works_until: isoTime(previous.worksUntilUnixMs) };
}

function stateOf(
  { revokedUnixMs, expiresOn, expiresUnixMs }: Key,
  now: UnixMs,
): 'active' | 'expired' | 'revoked' {
  if (revokedUnixMs !== undefined) return 'revoked';
  if (expiresUnixMs !== undefined && expiresUnixMs <= BigInt(now)) return 'expired';
  return expiresOn !== undefined && expiresOn < utcDay(now) ? 'expired' : 'active';
}

/** For people of an organization: its log does not show who acted as an operator, nor from where. */
export function auditEntryForCustomer(entry: AuditEntry) {
  const view = auditEntryView(entry);
  if (entry.actor?.operator !== true) return view;
  return { ...view, actor: { id: 'operator', label: OPERATOR_LABEL, ip_address: '' } };
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
  };
}

/** Maps the filters of the audit log to auth's request. */
export function auditFilter(query: {
  readonly action?: string | undefined;
  readonly actor_id?: string | undefined;
  readonly target?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}) {
  return {
    action: query.action,
    actorId: query.actor_id,
    target: query.target,
    sinceUnixMs: unixMsOf(query.since),
    untilUnixMs: unixMsOf(query.until),
  };
}

/** The time of a query or body, for a request to another service. */
function unixMsOf(time: string | undefined): bigint | undefined {
  return time === undefined ? undefined : BigInt(Date.parse(time));
}
