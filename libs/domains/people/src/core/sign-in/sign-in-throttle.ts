import type { Clock, UnixMs } from '@gateway/base';
import { tooManyAttempts, type AdminRefusal } from '@gateway/auth-shared';
import type { AddressRanges } from '../ports';
import type { AttemptCount, AttemptCounter } from '../ports';

export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/** Attempts per window before any more are refused unseen. */
export const MAX_ATTEMPTS = {
  /** One address guessing at one email. */
  pair: 10,
  /** One address guessing at many emails. */
  address: 100,
  /**
   * Many addresses guessing at one email. High, so that locking a member out takes effort: of each address only the
   * attempts of its own allowance count, so it takes twenty of them.
   */
  email: 200,
} as const;

export interface AttemptSource {
  readonly email: string;
  readonly ipAddress: string;
}

/**
 * Counts the attempt before the password is looked at, so that parallel
 * guesses cannot outrun the count. An attempt that its address has no allowance
 * for is refused without counting against the email: nobody locks a member out
 * from everywhere by guessing from one place. Answers how long to wait when
 * there were too many.
 */
export async function throttleSignIn(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  source: AttemptSource,
  now: UnixMs,
): Promise<number | undefined> {
  const address = ports.addressRanges.countedAs(source.ipAddress);
  const ofAddress = {
    [pairBucket(source.email, address)]: MAX_ATTEMPTS.pair,
    [`address:${address}`]: MAX_ATTEMPTS.address,
  };
  return (
    (await countAttempt(ports.attempts, ofAddress, now)) ??
    (await countAttempt(ports.attempts, { [`email:${source.email}`]: MAX_ATTEMPTS.email }, now))
  );
}

/** What is guessed at beside sign-ins; attempts per window. */
const MAX_OTHER_ATTEMPTS = {
  /** Links, by address: their tokens have 256 random bits, so this only spares us work. */
  link: 60,
  /** Reset mails to one email. */
  reset: 5,
  /** The password, or codes of the second factor, of one member whose session or password is known. */
  credential: 20,
} as const;

/** Answers how long to wait when there were too many attempts of this kind. */
export async function throttle(
  ports: { attempts: AttemptCounter; clock: Clock },
  kind: keyof typeof MAX_OTHER_ATTEMPTS,
  subject: string,
): Promise<AdminRefusal | undefined> {
  const limits = { [`${kind}:${subject}`]: MAX_OTHER_ATTEMPTS[kind] };
  const retryAfterMs = await countAttempt(ports.attempts, limits, ports.clock.now());
  return retryAfterMs === undefined ? undefined : tooManyAttempts(retryAfterMs);
}

/** After the right one the count starts from zero. */
export async function forgiveAttempts(
  { attempts }: { attempts: AttemptCounter },
  kind: keyof typeof MAX_OTHER_ATTEMPTS,
  subject: string,
): Promise<void> {
  await attempts.clear(`${kind}:${subject}`);
}

/** @returns how long to wait when one of the buckets is over its limit, in milliseconds. */
async function countAttempt(
  attempts: AttemptCounter,
  limits: Readonly<Record<string, number>>,
  now: UnixMs,
): Promise<number | undefined> {
  const counts = await attempts.add(Object.keys(limits), now, ATTEMPT_WINDOW_MS);
  const maxima = Object.values(limits);
  const waits = counts
    .filter((count: AttemptCount, index) => count.attempts > (maxima[index] ?? 0))
    .map((count) => Math.max(1, count.windowEndsAt - now));
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** After the right password the pair starts from zero; the wider counts stay. */
export async function forgiveSignIn(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  source: AttemptSource,
): Promise<void> {
  await ports.attempts.clear(pairBucket(source.email, ports.addressRanges.countedAs(source.ipAddress)));
}

function pairBucket(email: string, address: string): string {
  return `pair:${address}:${email}`;
}
