import type { Clock, UnixMs } from '@gateway/base';
import { traced } from '@gateway/telemetry';
import {
  CHECKS,
  hasRoom,
  limitOf,
  refusalBy,
  windowStates,
  type Admission,
  type AdmissionRef,
  type Decision,
  type LimitStore,
  type ReservedCounts,
} from '../../core';
import type { RedisConnection } from './connect-redis';
import { ADMIT_SCRIPT, FINISH_SCRIPT, PROBE_SCRIPT, RENEW_SCRIPT } from './scripts';

export interface RedisLimitStoreOptions {
  /** In any form: every script uses one key only. */
  readonly redis: RedisConnection;
  /** How long a slot stays reserved without renewal. Default 30 s. */
  readonly slotLeaseMs?: number;
  /** Default: the time of Redis, which all replicas share. */
  readonly clock?: Clock;
  /** Prefix of every Redis key, so that several gateways can share a server. */
  readonly prefix?: string;
  /** Called with the error of each organization that could not be decided. */
  readonly onFailure?: (error: unknown) => void;
}

const DEFAULT_SLOT_LEASE_MS = 30_000;
const DEFAULT_PREFIX = 'gateway';
/** Keys that a probe writes in a cluster, so that nearly every primary has one. */
const CLUSTER_PROBES = 16;
const NUMBERS_PER_ADMISSION = 7;

export interface RedisLimitStore extends LimitStore {
  /**
   * Writes to Redis as an admission does. Rejects if that fails; in a cluster, if it fails on every primary. Bounded by
   * the connection's command timeout.
   */
  probe(): Promise<void>;
}

type RunScript = (...args: readonly (string | number)[]) => Promise<unknown>;

/**
 * Counts in Redis, for any number of replicas. The admissions of one organization
 * in a call are one script, which is atomic; the scripts of all organizations are
 * pipelined. When Redis loses its data, the minute starts at zero and running
 * requests no longer count; the limits apply to new requests.
 */
export function createRedisLimitStore({
  redis,
  slotLeaseMs = DEFAULT_SLOT_LEASE_MS,
  clock,
  prefix = DEFAULT_PREFIX,
  onFailure = () => undefined,
}: RedisLimitStoreOptions): RedisLimitStore {
  const scripts = defineScripts(redis);

  function run(script: RunScript, organizationId: string, args: (string | number)[]): Promise<unknown> {
    return script(limitsKey(organizationId, prefix), clock?.now() ?? '', slotLeaseMs, ...args);
  }

  async function admit(organizationId: string, admissions: readonly Admission[]): Promise<Decision[]> {
    const args = admissions.flatMap((admission) => [
      idOf(admission),
      admission.keyId,
      admission.tokens,
      ...CHECKS.map((check) => limitOf(admission, check) ?? ''),
    ]);
    const [now, ...numbers] = (await run(scripts.admit, organizationId, args)) as number[];
    return admissions.map((admission, index) =>
      toDecision(admission, now as UnixMs, numbers.slice(index * NUMBERS_PER_ADMISSION)),
    );
  }

  function toDecision(admission: Admission, now: UnixMs, numbers: readonly number[]): Decision {
    const [refusedBy = 0, ...counts] = numbers;
    const reserved = { key: countsOf(counts.slice(0, 3)), organization: countsOf(counts.slice(3)) };
    const states = windowStates(admission, reserved, now);
    const check = CHECKS[refusedBy - 1];
    return check === undefined
      ? { kind: 'admitted', slotLeaseMs, hasRoom: hasRoom(admission, reserved), ...states }
      : { requests: states.requests, tokens: states.tokens, ...refusalBy(check, admission, now) };
  }

  return {
    admit: async (admissions) => {
      const decided = new Map<Admission, Decision>();
      await Promise.all(
        byOrganization(admissions).map(async ([organizationId, ofOne]) => {
          try {
            const decisions = await admit(organizationId, ofOne);
            ofOne.forEach((admission, index) => decided.set(admission, decisions[index] ?? UNDECIDED));
          } catch (error) {
            onFailure(error);
          }
        }),
      );
      return admissions.map((admission) => decided.get(admission) ?? UNDECIDED);
    },

    finish: async (finished) => {
      await runAll(finished, scripts.finish, (each) => [
        idOf(each),
        each.keyId,
        each.outcome.kind === 'used' ? each.outcome.tokens : '',
      ]);
    },

    renewSlots: async (slots) => {
      await runAll(slots, scripts.renew, (each) => [idOf(each)]);
    },

    probe: async () => {
      const keys = Array.from({ length: redis.isCluster ? CLUSTER_PROBES : 1 }, (_, index) =>
        limitsKey(`probe-${index}`, prefix),
      );
      await Promise.any(keys.map((key) => scripts.probe(key)));
    },
  };

  /** Runs the scripts of all organizations, then rejects if any failed. Safe to retry. */
  async function runAll<Item extends AdmissionRef>(
    items: readonly Item[],
    script: RunScript,
    argsOf: (item: Item) => (string | number)[],
  ): Promise<void> {
    const runs = byOrganization(items).map(([organizationId, ofOne]) =>
      run(script, organizationId, ofOne.flatMap(argsOf)),
    );
    for (const result of await Promise.allSettled(runs)) {
      if (result.status === 'rejected') throw result.reason;
    }
  }
}

function countsOf([requests = 0, tokens = 0, slots = 0]: readonly number[]): ReservedCounts {
  return { requests, tokens, slots };
}

/** The key with the counts of an organization. */
export function limitsKey(organizationId: string, prefix = DEFAULT_PREFIX): string {
  return `${prefix}:limits:{${organizationId}}`;
}

const UNDECIDED: Decision = { kind: 'undecided' };

function idOf({ keyId, admissionId }: AdmissionRef): string {
  return `${keyId}/${admissionId}`;
}

function byOrganization<Item extends AdmissionRef>(items: readonly Item[]): [string, Item[]][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.organizationId);
    if (group === undefined) groups.set(item.organizationId, [item]);
    else group.push(item);
  }
  return [...groups];
}

/** Each script is sent as its hash, and in full when the server does not know it. */
function defineScripts(redis: RedisConnection): Record<'admit' | 'finish' | 'renew' | 'probe', RunScript> {
  const define = (name: string, lua: string): RunScript => {
    redis.defineCommand(name, { lua, numberOfKeys: 1 });
    const script = (redis as unknown as Record<string, RunScript>)[name]?.bind(redis) as RunScript;
    const attributes = { 'db.system.name': 'redis', 'db.query.summary': name };
    return (...args) => traced('redis', { kind: 'client', attributes }, () => script(...args));
  };
  return {
    admit: define('gatewayAdmit', ADMIT_SCRIPT),
    finish: define('gatewayFinish', FINISH_SCRIPT),
    renew: define('gatewayRenew', RENEW_SCRIPT),
    probe: define('gatewayProbe', PROBE_SCRIPT),
  };
}
