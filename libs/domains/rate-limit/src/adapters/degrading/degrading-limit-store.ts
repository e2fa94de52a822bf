import type { Clock, UnixMs } from '@gateway/base';
import type { Admission, AdmissionRef, Decision, FinishedAdmission, Limits, LimitStore } from '../../core';

export interface DegradingLimitStorePorts {
  /** The counts that all replicas share. */
  readonly shared: LimitStore;
  /** Counts of this replica alone, used while the shared ones cannot be reached. */
  readonly own: LimitStore;
  readonly clock: Clock;
}

export interface DegradingLimitStoreOptions {
  /** Among how many replicas each limit is divided meanwhile; at least one. */
  readonly replicas: number;
  /** After the shared store could not decide, it is asked again after this long; a second when absent. */
  readonly askAgainAfterMs?: number;
  /** Decisions of its own that it remembers at most, to know what to finish where; a million when absent. */
  readonly maxRemembered?: number;
}

const DEFAULT_ASK_AGAIN_AFTER_MS = 1_000;
const DEFAULT_MAX_REMEMBERED = 1_000_000;

/**
 * Admits a replica's share of each limit while the shared store cannot be
 * reached. Availability at the cost of exactness: replicas that get more than
 * their part of the traffic refuse early, and a slot that another replica is
 * asked to renew lapses. The sum over all replicas stays near the limit.
 */
export function createDegradingLimitStore(
  { shared, own, clock }: DegradingLimitStorePorts,
  {
    replicas,
    askAgainAfterMs = DEFAULT_ASK_AGAIN_AFTER_MS,
    maxRemembered = DEFAULT_MAX_REMEMBERED,
  }: DegradingLimitStoreOptions,
): LimitStore {
  // In order of arrival; what never finished is pushed out at the end.
  const decidedHere = new Set<string>();
  let askAgainAt: UnixMs | undefined;

  async function decideShared(admissions: readonly Admission[]): Promise<readonly Decision[]> {
    const now = clock.now();
    if (askAgainAt !== undefined && now < askAgainAt) return admissions.map(() => UNDECIDED);
    // One call finds out whether it is back; those that come meanwhile do not wait with it.
    if (askAgainAt !== undefined) askAgainAt = (now + askAgainAfterMs) as UnixMs;
    const decisions = await shared.admit(admissions).catch(() => admissions.map(() => UNDECIDED));
    const away = decisions.length > 0 && decisions.every(({ kind }) => kind === 'undecided');
    askAgainAt = away ? ((clock.now() + askAgainAfterMs) as UnixMs) : undefined;
    return decisions;
  }

  async function decideHere(admissions: readonly Admission[]): Promise<readonly Decision[]> {
    const decisions = await own.admit(admissions.map((admission) => shareOf(admission, replicas)));
    admissions.forEach((admission, index) => {
      if (decisions[index]?.kind === 'admitted') decidedHere.add(idOf(admission));
    });
    for (const id of decidedHere) {
      if (decidedHere.size <= maxRemembered) break;
      decidedHere.delete(id);
    }
    return decisions;
  }

  async function finish(finished: readonly FinishedAdmission[]): Promise<void> {
    const here = finished.filter((each) => decidedHere.delete(idOf(each)));
    if (here.length > 0) {
      await own.finish(here);
      // The shared store may have reserved them before it fell silent; else their lease ends it.
      void shared.finish(here).catch(() => undefined);
    }
    const there = finished.filter((each) => !here.includes(each));
    if (there.length > 0) await shared.finish(there);
  }

  async function renewSlots(slots: readonly AdmissionRef[]): Promise<void> {
    const here = slots.filter((slot) => decidedHere.has(idOf(slot)));
    if (here.length > 0) await own.renewSlots(here);
    const there = slots.filter((slot) => !here.includes(slot));
    if (there.length > 0) await shared.renewSlots(there);
  }

  return {
    admit: async (admissions) => {
      const decisions = await decideShared(admissions);
      const left = admissions.filter((_, index) => decisions[index]?.kind === 'undecided');
      if (left.length === 0) return decisions;
      const decidedLocally = [...(await decideHere(left))];
      return decisions.map((decision) =>
        decision.kind === 'undecided' ? (decidedLocally.shift() ?? UNDECIDED) : decision,
      );
    },
    finish,
    renewSlots,
  };
}

const UNDECIDED: Decision = { kind: 'undecided' };

function shareOf(admission: Admission, replicas: number): Admission {
  return {
    ...admission,
    keyLimits: divide(admission.keyLimits, replicas),
    organizationLimits: divide(admission.organizationLimits, replicas),
  };
}

function divide(limits: Limits, replicas: number): Limits {
  const part = (limit: number | undefined): number | undefined =>
    limit === undefined || limit === 0 ? limit : Math.max(1, Math.floor(limit / replicas));
  return {
    requestsPerMinute: part(limits.requestsPerMinute),
    tokensPerMinute: part(limits.tokensPerMinute),
    concurrency: part(limits.concurrency),
  };
}

function idOf({ organizationId, keyId, admissionId }: AdmissionRef): string {
  return `${organizationId}/${keyId}/${admissionId}`;
}
