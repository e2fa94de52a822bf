import { msLeftInMinute, type UnixMs } from '@gateway/base';
import type { Admission, Limits, LimitScope, LimitType, Refused, WindowState, WindowStates } from './limits';

/** The counts of an organization or key: requests and tokens of the current window, and slots in use. */
export interface ReservedCounts {
  readonly requests: number;
  readonly tokens: number;
  readonly slots: number;
}

export type ReservedCountsByScope = Readonly<Record<LimitScope, ReservedCounts>>;

type Refusal = Omit<Refused, keyof WindowStates>;

/** One of the six limits of an admission. */
export interface Check {
  readonly limitType: LimitType;
  readonly scope: LimitScope;
}

/** A slot may become free at any moment. */
const CONCURRENCY_RETRY_AFTER_MS = 1_000;

/** The order of checks: requests, tokens, slots; for each, the key's limit before the organization's. */
export const CHECKS: readonly Check[] = [
  { limitType: 'requests', scope: 'key' },
  { limitType: 'requests', scope: 'organization' },
  { limitType: 'tokens', scope: 'key' },
  { limitType: 'tokens', scope: 'organization' },
  { limitType: 'concurrency', scope: 'key' },
  { limitType: 'concurrency', scope: 'organization' },
];

/** The first limit that refuses an admission, or undefined. Decides for key and organization together. */
export function findRefusal(
  admission: Admission,
  reserved: ReservedCountsByScope,
  now: UnixMs,
): Refusal | undefined {
  const check = CHECKS.find(({ limitType, scope }) => {
    const limit = limitOf(admission, { limitType, scope });
    return limit !== undefined && !fits(limitType, limit, reserved[scope], admission.tokens);
  });
  return check && refusalBy(check, admission, now);
}

/** The refusal of an admission by one of its limits. */
export function refusalBy(check: Check, admission: Admission, now: UnixMs): Refusal {
  const { limitType, scope } = check;
  const retryAfterMs = limitType === 'concurrency' ? CONCURRENCY_RETRY_AFTER_MS : msLeftInMinute(now);
  return { kind: 'refused', limitType, scope, limit: limitOf(admission, check) ?? 0, retryAfterMs };
}

/** The value of a limit for this admission; undefined when it does not apply. */
export function limitOf(admission: Admission, { limitType, scope }: Check): number | undefined {
  const limits = scope === 'key' ? admission.keyLimits : admission.organizationLimits;
  switch (limitType) {
    case 'requests':
      return limits.requestsPerMinute;
    case 'tokens':
      return limits.tokensPerMinute;
    case 'concurrency':
      return limits.concurrency;
  }
}

/** The windows to report to the client, from the counts after the decision. */
export function windowStates(
  admission: Admission,
  reserved: ReservedCountsByScope,
  now: UnixMs,
): WindowStates {
  const { keyLimits, organizationLimits } = admission;
  const resetMs = msLeftInMinute(now);
  return {
    requests: narrower(
      windowState(keyLimits.requestsPerMinute, reserved.key.requests, resetMs),
      windowState(organizationLimits.requestsPerMinute, reserved.organization.requests, resetMs),
    ),
    tokens: narrower(
      windowState(keyLimits.tokensPerMinute, reserved.key.tokens, resetMs),
      windowState(organizationLimits.tokensPerMinute, reserved.organization.tokens, resetMs),
    ),
  };
}

/** Whether at most half of the tokens and slots of every limit are in use after the decision. */
export function hasRoom(
  { keyLimits, organizationLimits }: Admission,
  reserved: ReservedCountsByScope,
): boolean {
  const isHalfFree = (limits: Limits, { tokens, slots }: ReservedCounts): boolean =>
    isAtMostHalf(tokens, limits.tokensPerMinute) && isAtMostHalf(slots, limits.concurrency);
  return isHalfFree(keyLimits, reserved.key) && isHalfFree(organizationLimits, reserved.organization);
}

function isAtMostHalf(used: number, limit: number | undefined): boolean {
  return limit === undefined || 2 * used <= limit;
}

function fits(limitType: LimitType, limit: number, reserved: ReservedCounts, tokens: number): boolean {
  switch (limitType) {
    case 'requests':
      return reserved.requests < limit;
    case 'tokens':
      // An empty window admits a request larger than the whole limit, which could otherwise never run.
      return limit > 0 && (reserved.tokens === 0 || reserved.tokens + tokens <= limit);
    case 'concurrency':
      return reserved.slots < limit;
  }
}

function windowState(limit: number | undefined, used: number, resetMs: number): WindowState | undefined {
  if (limit === undefined) return undefined;
  return { limit, remaining: Math.max(0, limit - used), resetMs };
}

function narrower(
  key: WindowState | undefined,
  organization: WindowState | undefined,
): WindowState | undefined {
  if (key === undefined || organization === undefined) return key ?? organization;
  return organization.remaining < key.remaining ? organization : key;
}
