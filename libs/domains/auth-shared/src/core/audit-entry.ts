import type { UnixMs } from '@gateway/base';

/** Who makes a change, as the audit log shows it. */
export interface Actor {
  /** A member id, or "system". */
  readonly id: string;
  readonly label: string;
  readonly ipAddress: string;
}

/**
 * - `started`: another domain is about to make the change.
 * - `done`, `failed`: how it went.
 */
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
  /** What changed; never a secret. */
  readonly details: JsonObject;
  readonly outcome: AuditOutcome;
}
