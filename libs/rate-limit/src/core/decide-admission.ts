import { msLeftInMinute, type UnixMs } from '@gateway/base';
import type { Admission, Limits, LimitScope, LimitType, Refused, WindowState, WindowStates } from './limits';

/** What an organization or a key has reserved: requests and tokens of the current window, slots in use. */
export interface Reserved {
  readonly requests: number;
  readonly tokens: number;
  readonly slots: number;
}

/** The pair that every decision is about. */
export interface ReservedByScope {
  readonly key: Reserved;
  readonly organization: Reserved;
}

type Refusal = Omit<Refused, keyof WindowStates>;

/** When slots are full: one may be free at any moment. */
const CONCURRENCY_RETRY_AFTER_MS = 1_000;

/** Requests before tokens before slots; of each the key's limit, which is the narrower, before the organization's. */
const CHECKS: readonly { readonly limitType: LimitType; readonly scope: LimitScope }[] = [
  { limitType: 'requests', scope: 'key' },
  { limitType: 'requests', scope: 'organization' },
  { limitType: 'tokens', scope: 'key' },
  { limitType: 'tokens', scope: 'organization' },
  { limitType: 'concurrency', scope: 'key' },
  { limitType: 'concurrency', scope: 'organization' },
];

/** The limit that refuses an admission, or undefined when none does. All or nothing: it decides for key and organization at once. */
export function findRefusal(
  admission: Admission,
  reserved: ReservedByScope,
  now: UnixMs,
): Refusal | undefined {
  for (const { limitType, scope } of CHECKS) {
    const limit = limitOf(limitsOf(admission, scope), limitType);
    if (limit === undefined || fits(limitType, limit, reserved[scope], admission.tokens)) continue;
    const retryAfterMs = limitType === 'concurrency' ? CONCURRENCY_RETRY_AFTER_MS : msLeftInMinute(now);
    return { kind: 'refused', limitType, scope, limit, retryAfterMs };
  }
  return undefined;
}

/** The windows as the caller should see them, given what is reserved after the decision. */
export function windowStates(admission: Admission, reserved: ReservedByScope, now: UnixMs): WindowStates {
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

function limitsOf(admission: Admission, scope: LimitScope): Limits {
  return scope === 'key' ? admission.keyLimits : admission.organizationLimits;
}

function limitOf(limits: Limits, limitType: LimitType): number | undefined {
  switch (limitType) {
    case 'requests':
      return limits.requestsPerMinute;
    case 'tokens':
      return limits.tokensPerMinute;
    case 'concurrency':
      return limits.concurrency;
  }
}

function fits(limitType: LimitType, limit: number, reserved: Reserved, tokens: number): boolean {
  switch (limitType) {
    case 'requests':
      return reserved.requests < limit;
    case 'tokens':
      // A request larger than the whole limit would otherwise wait for ever: an empty window takes it.
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
