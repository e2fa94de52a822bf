/** An absent limit does not apply; zero admits nothing. */
export interface Limits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Concurrent requests. */
  readonly concurrency?: number;
}

/** A request to be admitted. */
export interface Admission extends AdmissionRef {
  /** Input estimate plus effective output limit. */
  readonly tokens: number;
  readonly organizationLimits: Limits;
  readonly keyLimits: Limits;
}

/** Identifies an admission by all three ids. */
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
  /** Until the end of the window. */
  readonly resetMs: number;
}

/**
 * The more restrictive window of organization and key: the one with the least
 * remaining, the key's on a tie. Absent where neither has such a limit.
 */
export interface WindowStates {
  readonly requests?: WindowState;
  readonly tokens?: WindowState;
}

interface Admitted extends WindowStates {
  readonly kind: 'admitted';
  /** Without renewal, the slot is freed after this long. */
  readonly slotLeaseMs: number;
  /** At most half of the tokens and slots of every limit are in use. */
  readonly hasRoom: boolean;
}

export interface Refused extends WindowStates {
  readonly kind: 'refused';
  readonly limitType: LimitType;
  readonly scope: LimitScope;
  readonly limit: number;
  readonly retryAfterMs: number;
}

/**
 * The store could not decide for this admission's organization. Whether it was
 * reserved is unknown: the caller finishes it as returned, or admits it again.
 */
interface Undecided extends WindowStates {
  readonly kind: 'undecided';
}

export type Decision = Admitted | Refused | Undecided;

/** The outcome of an admitted request. */
export interface FinishedAdmission extends AdmissionRef {
  /** `returned`: refused before a provider was called; no longer counted. `used`: it ran and used this many tokens. */
  readonly outcome: { readonly kind: 'returned' } | { readonly kind: 'used'; readonly tokens: number };
}
