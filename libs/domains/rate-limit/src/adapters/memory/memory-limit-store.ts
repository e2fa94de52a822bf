import { minuteWindow, type Clock, type UnixMs } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import {
  findRefusal,
  hasRoom,
  windowStates,
  type Admission,
  type AdmissionRef,
  type Decision,
  type FinishedAdmission,
  type LimitStore,
  type ReservedCounts,
} from '../../core';
import { CounterTable, type Counter, type WindowCount } from './counter-table';

export interface MemoryLimitStoreOptions {
  readonly clock: Clock;
  /** How long a slot stays reserved without renewal. Default 30 s. */
  readonly slotLeaseMs?: number;
  /** Maximum stored admissions, running or in the current window. Default 1,000,000. */
  readonly maxAdmissions?: number;
}

export interface MemoryLimitStore extends LimitStore {
  /** The number of entries in memory. */
  size(): { readonly counters: number; readonly admissions: number };
}

const DEFAULT_SLOT_LEASE_MS = 30_000;
const DEFAULT_MAX_ADMISSIONS = 1_000_000;

/** The counter of the organization or the key in which an admission was counted. */
interface Counted {
  readonly counter: Counter;
  readonly window: WindowCount;
}

interface Running {
  readonly id: string;
  readonly window: number;
  readonly tokens: number;
  readonly counted: readonly Counted[];
  slotExpiresMs: number;
}

/**
 * A limit store in the memory of one process. Exact when that process decides all
 * admissions. A restart starts with empty windows and free slots. Every method
 * takes effect before it returns its promise, and so is atomic.
 */
export function createMemoryLimitStore({
  clock,
  slotLeaseMs = DEFAULT_SLOT_LEASE_MS,
  maxAdmissions = DEFAULT_MAX_ADMISSIONS,
}: MemoryLimitStoreOptions): MemoryLimitStore {
  const keys = new CounterTable();
  const organizations = new CounterTable();
  const admissions = new Map<string, Running>();
  // All leases have the same length, so they expire in the order of their last renewal.
  const leases = new Set<Running>();
  // Admissions whose lease has expired while their window is current.
  const expired = new Set<Running>();

  function admit(admission: Admission, now: UnixMs): Decision {
    const window = minuteWindow(now);
    const key = keys.lookUp(`${admission.organizationId}/${admission.keyId}`, window);
    const organization = organizations.lookUp(admission.organizationId, window);
    const id = idOf(admission);
    const refusal = admissions.has(id)
      ? undefined
      : findRefusal(admission, { key: countsOf(key), organization: countsOf(organization) }, now);
    if (refusal === undefined && !admissions.has(id)) take(id, admission.tokens, [key, organization], now);
    const reserved = { key: countsOf(key), organization: countsOf(organization) };
    const { requests, tokens } = windowStates(admission, reserved, now);
    return refusal === undefined
      ? { kind: 'admitted', slotLeaseMs, hasRoom: hasRoom(admission, reserved), requests, tokens }
      : { requests, tokens, ...refusal };
  }

  function take(id: string, tokens: number, counters: readonly Counter[], now: UnixMs): void {
    const counted = counters.map((counter) => {
      counter.current.requests += 1;
      counter.current.tokens += tokens;
      counter.slots += 1;
      return { counter, window: counter.current };
    });
    const running = { id, window: minuteWindow(now), tokens, counted, slotExpiresMs: now + slotLeaseMs };
    admissions.set(id, running);
    leases.add(running);
  }

  function finish({ outcome, ...ref }: FinishedAdmission): void {
    const id = idOf(ref);
    const running = admissions.get(id);
    if (running === undefined) return;
    admissions.delete(id);
    expired.delete(running);
    if (leases.delete(running)) freeSlots(running);
    // Has no effect in a window that is over: its counts are not read again.
    for (const { window } of running.counted) {
      window.tokens -= running.tokens;
      if (outcome.kind === 'returned') window.requests -= 1;
      else window.tokens += outcome.tokens;
    }
  }

  function renew(ref: AdmissionRef, now: UnixMs): void {
    const running = admissions.get(idOf(ref));
    if (running === undefined || !leases.delete(running)) return;
    running.slotExpiresMs = now + slotLeaseMs;
    leases.add(running);
  }

  /** Frees the slots with an expired lease, and deletes expired admissions of past windows. */
  function expire(now: UnixMs): void {
    for (const running of leases) {
      if (running.slotExpiresMs > now) break;
      leases.delete(running);
      freeSlots(running);
      expired.add(running);
    }
    const window = minuteWindow(now);
    for (const running of expired) {
      if (running.window === window) break;
      expired.delete(running);
      admissions.delete(running.id);
    }
  }

  return {
    admit: async (batch) => {
      const now = clock.now();
      expire(now);
      if (admissions.size + batch.length > maxAdmissions) {
        throw new GatewayError('no_capacity', {
          internalMessage: `more than ${maxAdmissions} stored admissions`,
        });
      }
      return batch.map((admission) => admit(admission, now));
    },
    finish: async (batch) => {
      expire(clock.now());
      batch.forEach(finish);
    },
    renewSlots: async (batch) => {
      const now = clock.now();
      expire(now);
      for (const ref of batch) renew(ref, now);
    },
    size: () => ({ counters: keys.size + organizations.size, admissions: admissions.size }),
  };
}

function idOf({ organizationId, keyId, admissionId }: AdmissionRef): string {
  return `${organizationId}/${keyId}/${admissionId}`;
}

function countsOf({ current, slots }: Counter): ReservedCounts {
  return { requests: current.requests, tokens: current.tokens, slots };
}

function freeSlots({ counted }: Running): void {
  for (const { counter } of counted) counter.slots -= 1;
}
