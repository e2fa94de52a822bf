import type { UnixMs } from '@gateway/base';

/** The author of a change, as shown in the audit log. */
export interface Actor {
  /** A member id, or "system". */
  readonly id: string;
  readonly label: string;
  readonly ipAddress: string;
}

/** `started` while another domain makes the change, then `done` or `failed`. */
export type AuditOutcome = 'started' | 'done' | 'failed';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface AuditEntry {
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
  readonly outcome: AuditOutcome;
}
