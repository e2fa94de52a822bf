import type { MemberRole, ManagementTokenAccess } from './permissions';
import type { Clock, UnixMs } from './time';

/** The author of a change, as shown in the audit log. */
export interface Actor {
  /** The id of a member or a management token, or "system" for a change by the gateway itself. */
  readonly id: string;
  /** A person as `personLabel` writes them, the name of a token with its creator, or "system". */
  readonly label: string;
  readonly ipAddress: string;
  /** Absent: a member. Customers do not see who acted as an operator. */
  readonly memberRole?: MemberRole;
  /** Present for a management token only. */
  readonly tokenAccess?: ManagementTokenAccess | undefined;
}

/** How customers see each operator. */
export const OPERATOR_LABEL = 'Operator';

/** Who made a change, as its organization sees it. */
export function labelForCustomers({ label, memberRole }: Actor): string {
  return memberRole === 'operator' ? OPERATOR_LABEL : label;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A change that was made, written in the transaction of the change. */
export interface AuditEntry {
  /** Sorts by time. */
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly actor: Actor;
  readonly organizationId?: string;
  /** Such as "key.create". */
  readonly action: string;
  /** Such as a key id. */
  readonly target: string;
  /** The changed fields; never a secret. */
  readonly details: JsonObject;
}

/** An audit entry without id and time. */
export type AuditedChange = Omit<AuditEntry, 'id' | 'createdAt'>;

/** A label has an email and a name. */
const MAX_ACTOR_FIELD_CHARACTERS = 360;

export function auditOf(
  change: AuditedChange,
  ports: { readonly newId: (prefix: string) => string; readonly clock: Clock },
): AuditEntry {
  return {
    ...change,
    actor: presentableActor(change.actor),
    id: ports.newId('aud'),
    createdAt: ports.clock.now(),
  };
}

/** A person and an address come from outside. */
function presentableActor({ id, label, ipAddress, memberRole = 'member' }: Actor): Actor {
  const presented = { id: presentable(id), label: presentable(label), ipAddress: presentable(ipAddress) };
  return { ...presented, memberRole };
}

function presentable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, '').slice(0, MAX_ACTOR_FIELD_CHARACTERS);
}
