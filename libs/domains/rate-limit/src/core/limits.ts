/** An absent limit does not apply; zero admits nothing. */
export interface Limits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Requests running at once. */
  readonly concurrency?: number;
}

/** One request that asks to run. */
export interface Admission extends AdmissionRef {
  /** Input estimate plus effective output limit. */
  readonly tokens: number;
  readonly organizationLimits: Limits;
  readonly keyLimits: Limits;
}

/** What names an admission; all three together. */
export interface AdmissionRef {
  readonly admissionId: string;
  readonly organizationId: string;
  readonly keyId: string;
}

export type LimitType = 'requests' | 'tokens' | 'concurrency';
export type LimitScope = 'key' | 'organization';

/** One limit in the current window, after a decision. */
export interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  /** To the end of the window. */
  readonly resetMs: number;
}

/**
 * The most restrictive window of organization and key: the one with the least
 * left, since it is the first that refuses; the key's when they are level.
 * Absent where neither has such a limit.
 */
export interface WindowStates {
  readonly requests?: WindowState;
  readonly tokens?: WindowState;
}

interface Admitted extends WindowStates {
  readonly kind: 'admitted';
  /** Unless renewed, the slot is free again after this long. */
  readonly slotLeaseMs: number;
}

export interface Refused extends WindowStates {
  readonly kind: 'refused';
  readonly limitType: LimitType;
  readonly scope: LimitScope;
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * The store did not answer for this admission's organization: it may have been
 * reserved or not. Whoever asked finishes it as returned, or asks again.
 */
interface Undecided extends WindowStates {
  readonly kind: 'undecided';
}

export type Decision = Admitted | Refused | Undecided;

/** How an admitted request ended. */
export interface FinishedAdmission extends AdmissionRef {
  /** `returned`: refused before a provider was called, so it never was. `used`: it ran, and used this many tokens. */
  readonly outcome: { readonly kind: 'returned' } | { readonly kind: 'used'; readonly tokens: number };
}
