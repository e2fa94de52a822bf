import type { NanoUsd, UnixMs, UtcDay } from '@gateway/base';
/** What a key may be used for, as the public contract names it. */
export type Scope = 'chat' | 'usage:read';

export const SCOPES: readonly Scope[] = ['chat', 'usage:read'];

/** Caps of one key. An absent one does not apply. */
export interface KeyLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly dailyBudgetNanoUsd?: NanoUsd;
  readonly concurrency?: number;
}

/** Caps of an organization. An absent one does not apply. */
export interface OrganizationLimits extends KeyLimits {
  /** The cap on `max_tokens`. */
  readonly maxOutputTokens?: number;
  /** Whether `n` above 1 is allowed. */
  readonly multipleCompletions: boolean;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly suspended: boolean;
  readonly suspendedReason?: string;
  readonly limits: OrganizationLimits;
  readonly createdAt: UnixMs;
  /** Grows by one with each change. */
  readonly version: number;
}

/** Everything about a key that can be chosen, in canonical form. */
export interface KeySettings {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Empty allows every model. */
  readonly allowedModels: readonly string[];
  /** Addresses and CIDR ranges in canonical form. Empty allows every address. */
  readonly ipAllowlist: readonly string[];
  /** The key works until the end of this day, UTC. */
  readonly expiresOn?: UtcDay;
  readonly limits: KeyLimits;
}

export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly last4: string;
  readonly settings: KeySettings;
  readonly createdAt: UnixMs;
  readonly revokedAt?: UnixMs;
  /** After a rotation, the secret of before. It may have ended since. */
  readonly previousSecret?: PreviousSecret;
  /** From this moment on it works no more; absent: by the settings' last day alone. */
  readonly expiresAt?: UnixMs;
  /** It ends with this session. */
  readonly sessionId?: string;
  /** Grows by one with each change. */
  readonly version: number;
}

export interface PreviousSecret {
  readonly last4: string;
  /** From this moment on it is no secret of the key any more. */
  readonly worksUntil: UnixMs;
}

/** Everything an edge needs to know of a key and its organization. */
export interface KeyGrant {
  readonly keyId: string;
  readonly organizationId: string;
  readonly revoked: boolean;
  readonly settings: Omit<KeySettings, 'name'>;
  readonly organizationLimits: OrganizationLimits;
  readonly organizationSuspended: boolean;
  /** From this moment on the key is expired. */
  readonly expiresAt?: UnixMs;
  /** When the secret that was asked about ends; absent: not before the key. */
  readonly secretEndsAt?: UnixMs;
}
