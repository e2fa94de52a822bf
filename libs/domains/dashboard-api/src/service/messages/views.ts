import { isoTime } from '@gateway/admin-calls';
import { OPERATOR_LABEL } from '@gateway/base';
import type { AuditEntry } from '@gateway/contracts/auth';

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
