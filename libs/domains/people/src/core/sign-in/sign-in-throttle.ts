import type { Clock, UnixMs } from '@gateway/base';
import { tooManyAttempts, type AdminRefusal } from '@gateway/auth-shared';
import type { AddressRanges } from '../ports';
import type { AttemptCount, AttemptCounter } from '../ports';

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
 * @returns how long to wait after too many attempts, in milliseconds.
 */
export async function throttleSignIn(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  source: AttemptSource,
  now: UnixMs,
): Promise<number | undefined> {
  const address = ports.addressRanges.networkOf(source.ipAddress);
  const addressLimits = {
    [pairBucket(source.email, address)]: MAX_ATTEMPTS.pair,
    [`address:${address}`]: MAX_ATTEMPTS.address,
  };
  return (
    (await countAttempt(ports.attempts, addressLimits, now)) ??
    (await countAttempt(ports.attempts, { [`email:${source.email}`]: MAX_ATTEMPTS.email }, now))
  );
}

/** Attempts per window at other secrets. */
const MAX_OTHER_ATTEMPTS = {
  /** Links, per address. Their tokens have 256 random bits, so the limit only saves work. */
  link: 60,
  /** Password reset emails, per email address. */
  reset: 5,
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

/** @returns how long to wait if a bucket is over its limit, in milliseconds. */
async function countAttempt(
  attempts: AttemptCounter,
  limits: Readonly<Record<string, number>>,
  now: UnixMs,
): Promise<number | undefined> {
  const counts = await attempts.add(Object.keys(limits), now, ATTEMPT_WINDOW_MS);
  const maximums = Object.values(limits);
  const waits = counts
    .filter((count: AttemptCount, index) => count.attempts > (maximums[index] ?? 0))
    .map((count) => Math.max(1, count.windowEndsAt - now));
  return waits.length === 0 ? undefined : Math.max(...waits);
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
