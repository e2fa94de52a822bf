import type { Clock, UnixMs } from '@gateway/base';
import { traced } from '@gateway/telemetry';
import type { Cluster, Redis } from 'ioredis';
import {
  CHECKS,
  limitOf,
  refusalBy,
  windowStates,
  type Admission,
  type AdmissionRef,
  type Decision,
  type LimitStore,
} from '../../core';
import { ADMIT_SCRIPT, FINISH_SCRIPT, RENEW_SCRIPT } from './scripts';

export interface RedisLimitStoreOptions {
  /** One server or a cluster: every script uses keys of one hash slot only. */
  readonly redis: Redis | Cluster;
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
const KEYS_PER_ORGANIZATION = 3;
const NUMBERS_PER_ADMISSION = 5;

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
  prefix = 'gateway',
  onFailure = () => undefined,
}: RedisLimitStoreOptions): LimitStore {
  const scripts = defineScripts(redis);

  function run(script: RunScript, organizationId: string, args: (string | number)[]): Promise<unknown> {
    const name = `${prefix}:limits:{${organizationId}}`;
    return script(
      `${name}:window`,
      `${name}:slots`,
      `${name}:held`,
      clock?.now() ?? '',
      slotLeaseMs,
      ...args,
    );
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
    const [refusedBy = 0, keyRequests = 0, keyTokens = 0, requests = 0, tokens = 0] = numbers;
    const states = windowStates(
      admission,
      { key: { requests: keyRequests, tokens: keyTokens }, organization: { requests, tokens } },
      now,
    );
    const check = CHECKS[refusedBy - 1];
    return check === undefined
      ? { kind: 'admitted', slotLeaseMs, ...states }
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
function defineScripts(redis: Redis | Cluster): Record<'admit' | 'finish' | 'renew', RunScript> {
  const define = (name: string, lua: string): RunScript => {
    redis.defineCommand(name, { lua, numberOfKeys: KEYS_PER_ORGANIZATION });
    const script = (redis as unknown as Record<string, RunScript>)[name]?.bind(redis) as RunScript;
    const attributes = { 'db.system.name': 'redis', 'db.query.summary': name };
    return (...args) => traced('redis', { kind: 'client', attributes }, () => script(...args));
  };
  return {
    admit: define('gatewayAdmit', ADMIT_SCRIPT),
    finish: define('gatewayFinish', FINISH_SCRIPT),
    renew: define('gatewayRenew', RENEW_SCRIPT),
  };
}
