import type { Clock, UnixMs } from '@gateway/base';
import { tooManyAttempts, type AdminRefusal } from '@gateway/auth-shared';
import type { AddressRanges } from '../ports';
import type { AttemptCounter } from '../ports';

export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/** Attempts per window. Further attempts are refused without checking the password. */
export const MAX_ATTEMPTS = {
  /** From one address for one email. */
  pair: 10,
  /** From one address for any email. */
  address: 100,
  /**
   * From any address for one email. High, so that it is hard to lock a member out: attempts beyond an address's own
   * limit do not count, so it takes twenty addresses.
   */
  email: 200,
} as const;

export interface AttemptSource {
  readonly email: string;
  readonly ipAddress: string;
}

/**
 * Counts the attempt before the password is checked, so that concurrent guesses
 * cannot exceed the limit. An attempt over its address's limit does not count
 * against the email, so guesses from one address cannot lock a member out
 * everywhere.
 *
 * @returns the wait after too many attempts.
 */
export async function throttleSignIn(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  source: AttemptSource,
  now: UnixMs,
): Promise<Wait | undefined> {
  const address = ports.addressRanges.networkOf(source.ipAddress);
  const addressLimits = {
    [pairBucket(source.email, address)]: MAX_ATTEMPTS.pair,
    [`address:${address}`]: MAX_ATTEMPTS.address,
  };
  return (
    (await waitOf(ports.attempts, addressLimits, now)) ??
    (await waitOf(ports.attempts, { [`email:${source.email}`]: MAX_ATTEMPTS.email }, now))
  );
}

/** Counts an unknown management token. @returns the wait after too many of them */
export async function throttleUnknownManagementToken(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  ipAddress: string,
  now: UnixMs,
): Promise<Wait | undefined> {
  const limits = { [`management-token:${ports.addressRanges.networkOf(ipAddress)}`]: MAX_ATTEMPTS.address };
  return waitOf(ports.attempts, limits, now);
}

/** Attempts per window at other secrets. */
const MAX_OTHER_ATTEMPTS = {
  /** Links, per address. Their tokens have 256 random bits, so the limit only saves work. */
  link: 60,
  /** Password or second factor, per member, by a client with a valid session or password. */
  credential: 20,
} as const;

/** Counts an attempt; a refusal with the time to wait if there were too many of this kind. */
export async function throttle(
  ports: { attempts: AttemptCounter; clock: Clock },
  kind: keyof typeof MAX_OTHER_ATTEMPTS,
  subject: string,
): Promise<AdminRefusal | undefined> {
  const limits = { [`${kind}:${subject}`]: MAX_OTHER_ATTEMPTS[kind] };
  const retryAfterMs = await countAttempt(ports.attempts, limits, ports.clock.now());
  return retryAfterMs === undefined ? undefined : tooManyAttempts(retryAfterMs);
}

/** Resets the count after a correct password or code. */
export async function resetAttempts(
  { attempts }: { attempts: AttemptCounter },
  kind: keyof typeof MAX_OTHER_ATTEMPTS,
  subject: string,
): Promise<void> {
  await attempts.clear(`${kind}:${subject}`);
}

/** The wait after too many attempts. */
export interface Wait {
  readonly retryAfterMs: number;
  /** Whether this attempt is the first over the limit in its window. */
  readonly isFirst: boolean;
}

/** @returns how long to wait if a bucket is over its limit, in milliseconds. */
export async function countAttempt(
  attempts: AttemptCounter,
  limits: Readonly<Record<string, number>>,
  now: UnixMs,
  options?: CountOptions,
): Promise<number | undefined> {
  return (await waitOf(attempts, limits, now, options))?.retryAfterMs;
}

interface CountOptions {
  /** Default: 1. */
  readonly by?: number;
  readonly windowMs?: number;
}

async function waitOf(
  attempts: AttemptCounter,
  limits: Readonly<Record<string, number>>,
  now: UnixMs,
  { by = 1, windowMs = ATTEMPT_WINDOW_MS }: CountOptions = {},
): Promise<Wait | undefined> {
  const counts = await attempts.add(Object.keys(limits), by, now, windowMs);
  const maximums = Object.values(limits);
  const over = counts.flatMap(({ attempts: count, windowEndsAt }, index) => {
    const max = maximums[index] ?? 0;
    return count <= max ? [] : [{ waitMs: Math.max(1, windowEndsAt - now), isFirst: count - by <= max }];
  });
  if (over.length === 0) return undefined;
  return {
    retryAfterMs: Math.max(...over.map(({ waitMs }) => waitMs)),
    isFirst: over.every(({ isFirst }) => isFirst),
  };
}

/** Resets the count of the pair after a correct password; the other counts remain. */
export async function resetSignInAttempts(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  source: AttemptSource,
): Promise<void> {
  await ports.attempts.clear(pairBucket(source.email, ports.addressRanges.networkOf(source.ipAddress)));
}

function pairBucket(email: string, address: string): string {
  return `pair:${address}:${email}`;
}
