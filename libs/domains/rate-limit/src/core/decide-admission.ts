import { msLeftInMinute, type UnixMs } from '@gateway/base';
import type { Admission, LimitScope, LimitType, Refused, WindowState, WindowStates } from './limits';

/** What an organization or a key has reserved: requests and tokens of the current window, slots in use. */
export interface Reserved {
  readonly requests: number;
  readonly tokens: number;
  readonly slots: number;
}

/** Of the current window alone. */
export type WindowsByScope = Readonly<Record<LimitScope, Omit<Reserved, 'slots'>>>;

/** The pair that every decision is about. */
export interface ReservedByScope {
  readonly key: Reserved;
  readonly organization: Reserved;
}

type Refusal = Omit<Refused, keyof WindowStates>;

/** One of the six limits that an admission is held against. */
export interface Check {
  readonly limitType: LimitType;
  readonly scope: LimitScope;
}

/** When slots are full: one may be free at any moment. */
const CONCURRENCY_RETRY_AFTER_MS = 1_000;

/** Requests before tokens before slots; of each the key's limit, which is the narrower, before the organization's. */
export const CHECKS: readonly Check[] = [
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
  const check = CHECKS.find(({ limitType, scope }) => {
    const limit = limitOf(admission, { limitType, scope });
    return limit !== undefined && !fits(limitType, limit, reserved[scope], admission.tokens);
  });
  return check && refusalBy(check, admission, now);
}

/** The refusal of an admission by a limit that it has. */
export function refusalBy(check: Check, admission: Admission, now: UnixMs): Refusal {
  const { limitType, scope } = check;
  const retryAfterMs = limitType === 'concurrency' ? CONCURRENCY_RETRY_AFTER_MS : msLeftInMinute(now);
  return { kind: 'refused', limitType, scope, limit: limitOf(admission, check) ?? 0, retryAfterMs };
}

/** The limit that a check is about, of this admission's key or organization. */
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

/** The windows as the caller should see them, given what is reserved after the decision. */
export function windowStates(admission: Admission, reserved: WindowsByScope, now: UnixMs): WindowStates {
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
