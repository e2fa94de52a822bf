import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  describeWith,
  localRedis,
  provideRedis,
  redis,
  redisUrl,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
  type RedisServer,
  type TestServer,
} from '@gateway/dev-infra';
import { eventually } from '@gateway/test-support';
import { Redis } from 'ioredis';
import type { Admission, LimitStore } from '../../core';
import { describeLimitStoreSuite } from '../../testing/limit-store.contract';
import { describeLimitStoreSimulationSuite } from '../../testing/limit-store.simulation';
import { connectRedis, type RedisConnection } from './connect-redis';
import { createRedisLimitStore } from './redis-limit-store';

const SEEDS = 6;
const LEASE_MS = 30_000;

interface Form {
  readonly form: string;
  readonly requires: TestServer;
  readonly start: () => Promise<{ readonly url: string; stop(): Promise<void> }>;
}

const FORMS: readonly Form[] = [
  { form: 'behind one endpoint', requires: redisUrl, start: provideRedis },
  { form: 'with Sentinel', requires: localRedis, start: startRedisSentinel },
  { form: 'as a Cluster', requires: localRedis, start: startRedisCluster },
];

for (const { form, requires, start } of FORMS) {
  describeWith(requires, `the limit store in Redis ${form}`, () => {
    let server: { readonly url: string; stop(): Promise<void> } | undefined;
    let opened = 0;
    // The server may be shared.
    const prefix = `test-${randomUUID()}`;

    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());

    const open: Parameters<typeof describeLimitStoreSuite>[1] = async (options) => {
      const client = connectRedis({ url: server?.url ?? '' });
      await once(client, 'ready');
      opened += 1;
      return {
        store: createRedisLimitStore({ redis: client, prefix: `${prefix}-${opened}`, ...options }),
        close: async () => client.disconnect(),
      };
    };

    describeLimitStoreSuite(`in Redis ${form}`, open);
    describeLimitStoreSimulationSuite(`in Redis ${form}`, open, SEEDS);
  });
}

describeWith(redis, 'the limit store on a Redis server', () => {
  let server: RedisServer;
  let admin: Redis;

  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin?.disconnect();
    await server?.stop();
  });

  describe('with replicas', () => {
    const clients: RedisConnection[] = [];
    let store: LimitStore;
    let other: LimitStore;

    async function replica(): Promise<LimitStore> {
      const client = connectRedis({ url: server.url });
      clients.push(client);
      await once(client, 'ready');
      return createRedisLimitStore({ redis: client, slotLeaseMs: LEASE_MS });
    }

    beforeEach(async () => {
      await admin.flushall();
      [store, other] = [await replica(), await replica()];
    });
    afterEach(() => clients.splice(0).forEach((client) => client.disconnect()));

    const request = (
      id: number,
      limits: Admission['keyLimits'],
      rest: Partial<Admission> = {},
    ): Admission => ({
      admissionId: `gen-${id}`,
      organizationId: 'org-1',
      keyId: 'key-1',
      tokens: 1,
      keyLimits: limits,
      organizationLimits: {},
      ...rest,
    });

    const kinds = async (of: LimitStore, admissions: readonly Admission[]) =>
      (await of.admit(admissions)).map(({ kind }) => kind);

    it('admits exactly the limit under concurrency', async () => {
      const admissions = Array.from({ length: 400 }, (_, id) => request(id, { concurrency: 70 }));
      const decided = await Promise.all(
        admissions.map((admission, index) => kinds(index % 2 === 0 ? store : other, [admission])),
      );
      expect(decided.flat().filter((kind) => kind === 'admitted')).toHaveLength(70);
    });

    it('reserves nothing for an id that the other replica has admitted, and lets either finish it', async () => {
      const first = request(1, { concurrency: 1 });
      expect(await kinds(store, [first])).toEqual(['admitted']);
      expect(await kinds(other, [first, request(2, { concurrency: 1 })])).toEqual(['admitted', 'refused']);
      await other.finish([{ ...first, outcome: { kind: 'returned' } }]);
      expect(await kinds(store, [request(3, { concurrency: 1 })])).toEqual(['admitted']);
    });

    it('decides without failures during a password rotation, and rejects the old password afterwards', async () => {
      const urlWith = (password: string) => server.url.replace('redis://', `redis://gateway:${password}@`);
      const withPassword = async (password: string): Promise<LimitStore> => {
        const client = connectRedis({ url: urlWith(password) });
        clients.push(client);
        await once(client, 'ready');
        return createRedisLimitStore({ redis: client, slotLeaseMs: LEASE_MS });
      };
      await admin.acl('SETUSER', 'gateway', 'reset', 'on', '>old', '~*', '+@all');
      const failures: unknown[] = [];
      let serving = await withPassword('old');
      let decided = 0;
      let changed = false;
      const load = (async () => {
        while (!changed) {
          await serving.admit([request((decided += 1), {})]).catch((error: unknown) => failures.push(error));
        }
      })();
      const moreDecided = () => {
        const before = decided;
        return eventually('requests to be decided', async () => decided > before + 10 || undefined);
      };
      await moreDecided();
      await admin.acl('SETUSER', 'gateway', '>new');
      await moreDecided();
      serving = await withPassword('new');
      await moreDecided();
      await admin.acl('SETUSER', 'gateway', '<old');
      await moreDecided();
      changed = true;
      await load;
      expect(failures).toEqual([]);
      const late = admin.duplicate();
      clients.push(late);
      await expect(late.auth('gateway', 'old')).rejects.toThrow('WRONGPASS');
      await admin.acl('DELUSER', 'gateway');
    });

    it('uses the clock of Redis', async () => {
      const leftInMinute = async () => {
        const [seconds, micros] = await admin.time();
        return 60_000 - (Number(seconds) % 60) * 1_000 - Math.floor(Number(micros) / 1_000);
      };
      const within = await eventually('an admission between two clock reads in one minute', async () => {
        const before = await leftInMinute();
        const [decision] = await store.admit([request(1, { requestsPerMinute: 5 })]);
        const after = await leftInMinute();
        return after <= before ? { before, after, resetMs: decision?.requests?.resetMs ?? -1 } : undefined;
      });
      expect(within.resetMs).toBeLessThanOrEqual(within.before);
      expect(within.resetMs).toBeGreaterThanOrEqual(within.after);
    });

    it('reloads its scripts when Redis has lost them', async () => {
      await kinds(store, [request(1, {})]);
      await admin.script('FLUSH');
      const many = Array.from({ length: 20 }, (_, id) =>
        request(id + 2, {}, { organizationId: `org-${id}` }),
      );
      expect(new Set(await kinds(store, many))).toEqual(new Set(['admitted']));
    });

    it('decides one organization when the keys of another are corrupt, and reports the other as undecided', async () => {
      await admin.set('gateway:limits:{org-broken}', 'not a hash');
      const decided = await kinds(store, [
        request(1, {}, { organizationId: 'org-broken' }),
        request(2, {}),
        request(3, {}, { organizationId: 'org-broken' }),
      ]);
      expect(decided).toEqual(['undecided', 'admitted', 'undecided']);
    });

    it('stores nothing for an idle organization', async () => {
      await kinds(store, [request(1, {})]);
      for (const name of await admin.keys('gateway:limits:*')) {
        expect(await admin.pttl(name)).toBeGreaterThan(0);
      }
      await store.finish([{ ...request(1, {}), outcome: { kind: 'used', tokens: 1 } }]);
      expect(await admin.keys('gateway:limits:*')).toEqual(['gateway:limits:{org-1}']);
    });
  });

  describe('when Redis is unavailable', () => {
    it('returns undecided without waiting, and decides again after recovery, with counts from zero', async () => {
      const mine = await startRedis();
      const client = connectRedis({ url: mine.url });
      const store = createRedisLimitStore({ redis: client });
      const limited = (id: number): Admission => ({
        admissionId: `gen-${id}`,
        organizationId: 'org-1',
        keyId: 'key-1',
        tokens: 1,
        keyLimits: { requestsPerMinute: 1_000_000, concurrency: 2 },
        organizationLimits: {},
      });
      const kind = async (id: number) => (await store.admit([limited(id)]))[0]?.kind;
      await eventually('the first admission', async () =>
        (await kind(1)) === 'admitted' ? true : undefined,
      );
      expect(await kind(2)).toBe('admitted');
      expect(await kind(3)).toBe('refused');

      await mine.pause();
      expect(await kind(4)).toBe('undecided');
      await mine.resume();
      await eventually('decisions after the pause', async () =>
        (await kind(3)) === 'refused' ? true : undefined,
      );

      await mine.kill();
      expect(await kind(5)).toBe('undecided');
      await mine.start();
      await eventually('decisions after the restart', async () =>
        (await kind(6)) === 'admitted' ? true : undefined,
      );
      // Earlier requests are unknown: renewing and finishing them has no effect, and the limit applies.
      await store.renewSlots([limited(1)]);
      await store.finish([{ ...limited(2), outcome: { kind: 'used', tokens: 5 } }]);
      expect(await kind(7)).toBe('admitted');
      expect(await kind(8)).toBe('refused');
      client.disconnect();
      await mine.stop();
    });
  });
});
