import type { Clock, UnixMs } from '@gateway/base';
import type { Admission, AdmissionRef, Decision, FinishedAdmission, Limits, LimitStore } from '../../core';

export interface DegradingLimitStorePorts {
  /** The counters that all replicas share. */
  readonly shared: LimitStore;
  /** The counters of this replica, used while the shared ones are unreachable. */
  readonly local: LimitStore;
  readonly clock: Clock;
}

export interface DegradingLimitStoreOptions {
  /** The number of replicas by which each limit is divided; at least 1. */
  readonly replicas: number;
  /** Pause before the next call of a shared store that could not decide. Default 1 s. */
  readonly retryIntervalMs?: number;
}

const DEFAULT_RETRY_INTERVAL_MS = 1_000;
/** Tracked local admissions, whose finishes go to the local store. */
const MAX_TRACKED = 1_000_000;

/**
 * Admits a replica's share of each limit while the shared store is unreachable.
 * Availability at the cost of exactness: a replica with more than its share of
 * the traffic refuses early, and a slot whose renewal reaches another replica
 * expires. The sum over all replicas stays near the limit.
 */
export function createDegradingLimitStore(
  { shared, local, clock }: DegradingLimitStorePorts,
  { replicas, retryIntervalMs = DEFAULT_RETRY_INTERVAL_MS }: DegradingLimitStoreOptions,
): LimitStore {
  // In order of arrival; admissions that never finish are evicted.
  const admittedLocally = new Set<string>();
  let retryAt: UnixMs | undefined;

  async function decideShared(admissions: readonly Admission[]): Promise<readonly Decision[]> {
    const now = clock.now();
    if (retryAt !== undefined && now < retryAt) return admissions.map(() => UNDECIDED);
    // One call probes the shared store; concurrent calls do not wait for it.
    if (retryAt !== undefined) retryAt = (now + retryIntervalMs) as UnixMs;
    const decisions = await shared.admit(admissions).catch(() => admissions.map(() => UNDECIDED));
    const isUnavailable = decisions.length > 0 && decisions.every(({ kind }) => kind === 'undecided');
    retryAt = isUnavailable ? ((clock.now() + retryIntervalMs) as UnixMs) : undefined;
    return decisions;
  }

  async function decideLocally(admissions: readonly Admission[]): Promise<readonly Decision[]> {
    const decisions = await local.admit(admissions.map((admission) => shareOf(admission, replicas)));
    admissions.forEach((admission, index) => {
      if (decisions[index]?.kind === 'admitted') admittedLocally.add(idOf(admission));
    });
    for (const id of admittedLocally) {
      if (admittedLocally.size <= MAX_TRACKED) break;
      admittedLocally.delete(id);
    }
    return decisions;
  }

  async function finish(finished: readonly FinishedAdmission[]): Promise<void> {
    const localOnes = finished.filter((each) => admittedLocally.delete(idOf(each)));
    if (localOnes.length > 0) {
      await local.finish(localOnes);
      // The shared store may have reserved them before it became unreachable. If this fails, their leases expire.
      void shared.finish(localOnes).catch(() => undefined);
    }
    const sharedOnes = finished.filter((each) => !localOnes.includes(each));
    if (sharedOnes.length > 0) await shared.finish(sharedOnes);
  }

  async function renewSlots(slots: readonly AdmissionRef[]): Promise<void> {
    const localOnes = slots.filter((slot) => admittedLocally.has(idOf(slot)));
    if (localOnes.length > 0) await local.renewSlots(localOnes);
    const sharedOnes = slots.filter((slot) => !localOnes.includes(slot));
    if (sharedOnes.length > 0) await shared.renewSlots(sharedOnes);
  }

  return {
    admit: async (admissions) => {
      const decisions = await decideShared(admissions);
      const left = admissions.filter((_, index) => decisions[index]?.kind === 'undecided');
      if (left.length === 0) return decisions;
      const decidedLocally = [...(await decideLocally(left))];
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
