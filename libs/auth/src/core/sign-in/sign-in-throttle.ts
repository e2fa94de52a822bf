import type { UnixMs } from '@gateway/base';
import type { AddressRanges, AttemptCount, AttemptCounter } from '../ports';

export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/** Attempts per window before any more are refused unseen. */
export const MAX_ATTEMPTS = {
  /** One address guessing at one email. */
  pair: 10,
  /** One address guessing at many emails. */
  address: 100,
  /** Many addresses guessing at one email. High, so that locking a member out takes effort. */
  email: 200,
} as const;

export interface AttemptSource {
  readonly email: string;
  readonly ipAddress: string;
}

/**
 * Counts the attempt before the password is looked at, so that parallel
 * guesses cannot outrun the count. Answers how long to wait when there were too
 * many.
 */
export async function throttleSignIn(
  ports: { attempts: AttemptCounter; addressRanges: AddressRanges },
  source: AttemptSource,
  now: UnixMs,
): Promise<number | undefined> {
  const address = ports.addressRanges.countedAs(source.ipAddress);
  const counts = await ports.attempts.add(
    [pairBucket(source.email, address), `address:${address}`, `email:${source.email}`],
    now,
    ATTEMPT_WINDOW_MS,
  );
  const limits = [MAX_ATTEMPTS.pair, MAX_ATTEMPTS.address, MAX_ATTEMPTS.email];
  const waits = counts
    .filter((count: AttemptCount, index) => count.attempts > (limits[index] ?? 0))
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
