import { once } from 'node:events';
import {
  commandRedis,
  describeWith,
  localRedis,
  startLocalRedis,
  startRedisCluster,
  startRedisSentinel,
  startTcpRelay,
  type RedisServer,
} from '@gateway/dev-infra';
import { eventually } from '@gateway/test-support';
import type { Admission, LimitStore } from '../../core';
import { CONNECTION_NAME, connectRedis } from './connect-redis';
import { createRedisLimitStore } from './redis-limit-store';

const HELD_LEASE_MS = 60_000;
/**
 * Redis replicates asynchronously: a finish that only the lost primary has is repeated by the end of the lease. Short, so
 * that the tests see it.
 */
const LEASE_MS = 4_000;
const HELD = 20;
const PATIENCE = { timeoutMs: 20_000 };

/** One organization whose slots are all in use, and load on others, with the longest time without a decision. */
function startLoad(url: string, organizations = 12) {
  const failures: string[] = [];
  const client = connectRedis({ url, onError: (error) => failures.push(error.message) });
  const open = (slotLeaseMs: number): LimitStore =>
    createRedisLimitStore({
      redis: client,
      slotLeaseMs,
      onFailure: (error) => failures.push((error as Error).message),
    });
  const store = open(LEASE_MS);
  const holding = open(HELD_LEASE_MS);
  let stopped = false;
  let closed = false;
  let decided = 0;
  let ids = 0;
  let longestGapMs = 0;
  const admission = (organizationId: string, admissionId: string): Admission => ({
    admissionId,
    organizationId,
    keyId: 'key-1',
    tokens: 1,
    keyLimits: {},
    organizationLimits: { concurrency: HELD },
  });
  const held = Array.from({ length: HELD }, (_, index) => admission('org-held', `held-${index}`));

  async function run(organizationId: string): Promise<void> {
    let decidedAtMs = performance.now();
    while (!stopped) {
      const mine = admission(organizationId, `gen-${(ids += 1)}`);
      const [decision] = await store.admit([mine]);
      if (decision?.kind === 'undecided') await pause(20);
      else {
        decided += 1;
        longestGapMs = Math.max(longestGapMs, performance.now() - decidedAtMs);
        decidedAtMs = performance.now();
      }
      // A slot whose admission or finish failed is freed by a repeated finish.
      await retry(() => store.finish([{ ...mine, outcome: { kind: 'returned' } }]));
    }
  }

  const retry = async (work: () => Promise<void>): Promise<void> => {
    while (!closed) {
      try {
        return await work();
      } catch {
        await pause(20);
      }
    }
  };
  let runs: Promise<void>[] = [];
  return {
    failures,
    held,
    kindOf: async (of: Admission) => (await holding.admit([of]))[0]?.kind,
    oneMore: (id: string) => admission('org-held', id),
    async start(): Promise<void> {
      await once(client, 'ready');
      await eventually(
        'the held slots',
        async () => (await holding.admit(held)).every(({ kind }) => kind === 'admitted') || undefined,
      );
      runs = Array.from({ length: organizations }, (_, index) => run(`org-${index}`));
      await this.moreDecided();
    },
    moreDecided: () => {
      const before = decided;
      return eventually(
        'decisions for every organization',
        async () => decided > before + 20 * organizations || undefined,
        PATIENCE,
      );
    },
    report: (what: string) =>
      process.stdout.write(`${what}: longest time without a decision ${longestGapMs.toFixed(0)} ms\n`),
    /** Expects that the held slots are still held, and that every slot is free after all have finished. */
    async expectNoLostSlot(): Promise<void> {
      const decision = await eventually('a decision', async () => {
        const kind = await this.kindOf(this.oneMore('more-1'));
        return kind === 'undecided' ? undefined : kind;
      });
      expect(decision).toBe('refused');
      await holding.renewSlots(held);
      await holding.finish(held.map((each) => ({ ...each, outcome: { kind: 'returned' } as const })));
      stopped = true;
      await Promise.all(runs);
      const all = Array.from({ length: organizations }, (_, index) => `org-${index}`).concat('org-held');
      for (const organizationId of all) {
        const again = Array.from({ length: HELD }, (_, id) => admission(organizationId, `again-${id}`));
        await eventually(
          `free slots of ${organizationId}`,
          async () => (await holding.admit(again)).every(({ kind }) => kind === 'admitted') || undefined,
        );
      }
    },
    async stop(): Promise<void> {
      stopped = true;
      closed = true;
      client.disconnect();
      await Promise.all(runs);
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when the replicas have acknowledged all writes so far. `WAIT` would wait only for those of its own connection. */
async function replicated(server: RedisServer): Promise<void> {
  const replication = () => commandRedis(server.port, 'INFO', 'replication');
  const written = Number(/^master_repl_offset:(\d+)/m.exec(await replication())?.[1]);
  await eventually(
    'replicas with all writes',
    async () => {
      const acknowledged = [...(await replication()).matchAll(/^slave\d+:.*,offset=(\d+)/gm)];
      const all = acknowledged.length > 0 && acknowledged.every(([, offset]) => Number(offset) >= written);
      return all || undefined;
    },
    PATIENCE,
  );
}

/** Resolves when no store is connected to this server. */
const left = (server: RedisServer) =>
  eventually('no connection to the old primary', async () => {
    const clients = await commandRedis(server.port, 'CLIENT', 'LIST', 'TYPE', 'normal');
    return clients.includes(`name=${CONNECTION_NAME}`) ? undefined : true;
  });

describeWith(localRedis, 'the limit store when Redis fails over', () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  const own = <Thing extends { stop(): Promise<void> }>(thing: Thing): Thing => {
    stops.push(() => thing.stop());
    return thing;
  };
  const load = async (url: string, organizations?: number) => {
    const started = own(startLoad(url, organizations));
    await started.start();
    return started;
  };

  async function pairBehindEndpoint() {
    const first = own(await startLocalRedis());
    const second = own(
      await startLocalRedis({
        settings: { replicaof: `127.0.0.1 ${first.port}`, 'repl-diskless-sync-delay': '0' },
      }),
    );
    let target = first;
    const relay = own(await startTcpRelay({ upstreams: () => [{ host: '127.0.0.1', port: target.port }] }));
    await eventually(
      'replication',
      async () =>
        (await commandRedis(second.port, 'INFO', 'replication')).includes('master_link_status:up') ||
        undefined,
    );
    return {
      first,
      second,
      relay,
      url: `redis://127.0.0.1:${relay.port}`,
      endpointTo: (server: RedisServer) => void (target = server),
    };
  }

  it('leaves a demoted primary behind one endpoint', async () => {
    const { first, second, url, endpointTo } = await pairBehindEndpoint();
    const running = await load(url);
    await commandRedis(first.port, 'FAILOVER', 'TO', '127.0.0.1', String(second.port));
    await eventually(
      'the demotion',
      async () => (await commandRedis(first.port, 'ROLE')).startsWith('slave') || undefined,
    );
    endpointTo(second);
    await running.moreDecided();
    await left(first);
    running.report('demoted primary');
    await running.expectNoLostSlot();
  });

  it('leaves a primary that no longer responds and closes no connection', async () => {
    const { first, second, url, endpointTo } = await pairBehindEndpoint();
    const running = await load(url);
    await replicated(first);
    await first.pause();
    await commandRedis(second.port, 'REPLICAOF', 'NO', 'ONE');
    endpointTo(second);
    await running.moreDecided();
    running.report('silent primary');
    await running.expectNoLostSlot();
  });

  it('follows a failover that Sentinel was ordered to do', async () => {
    const group = own(await startRedisSentinel());
    const running = await load(group.url);
    const primary = await group.primary();
    await replicated(primary);
    await group.failOver();
    await left(primary);
    await running.moreDecided();
    running.report('SENTINEL FAILOVER');
    await running.expectNoLostSlot();
  });

  it('follows a failover of Sentinel after the primary was killed', async () => {
    const group = own(await startRedisSentinel());
    const running = await load(group.url);
    const primary = await group.primary();
    await replicated(primary);
    await primary.kill();
    await running.moreDecided();
    running.report('kill -9 of the primary under Sentinel');
    await eventually(
      'the same report of all Sentinels',
      async () => (await group.primary()).port !== primary.port || undefined,
      PATIENCE,
    );
    await running.expectNoLostSlot();
  });

  it('follows an ordered failover in a Cluster', async () => {
    const cluster = own(await startRedisCluster());
    const running = await load(cluster.url);
    await cluster.failOver(await cluster.slotOf('{org-held}'));
    await running.moreDecided();
    running.report('CLUSTER FAILOVER');
    await running.expectNoLostSlot();
  });

  it('follows a failover in a Cluster after a primary was killed', async () => {
    const cluster = own(await startRedisCluster());
    const running = await load(cluster.url);
    const slot = await cluster.slotOf('{org-held}');
    const primary = await cluster.primaryOf(slot);
    await replicated(primary);
    await primary.kill();
    await eventually(
      'another primary',
      () =>
        cluster.primaryOf(slot).then(
          (now) => now.port !== primary.port || undefined,
          () => undefined,
        ),
      PATIENCE,
    );
    await running.moreDecided();
    running.report('kill -9 of a primary in a Cluster');
    await running.expectNoLostSlot();
  });

  it('decides throughout the migration of a slot under load', async () => {
    const cluster = own(await startRedisCluster());
    const running = await load(cluster.url);
    const migration = await cluster.startMigration(await cluster.slotOf('{org-held}'));
    const state = async (id: string) => [
      await running.kindOf(running.held[0] as Admission),
      await running.kindOf(running.oneMore(id)),
    ];
    running.failures.splice(0);
    expect(await state('during-1')).toEqual(['admitted', 'refused']);
    await migration.moveKeys();
    expect(await state('during-2')).toEqual(['admitted', 'refused']);
    await running.moreDecided();
    await migration.finish();
    expect(await state('after')).toEqual(['admitted', 'refused']);
    await running.moreDecided();
    expect(running.failures).toEqual([]);
    running.report('slot migration');
    await running.expectNoLostSlot();
  });

  it('admits a new organization while its slot is moved', async () => {
    const cluster = own(await startRedisCluster());
    const running = await load(cluster.url);
    const migration = await cluster.startMigration(await cluster.slotOf('{org-new}'));
    const request: Admission = { ...running.oneMore('first'), organizationId: 'org-new' };
    expect(await running.kindOf(request)).toBe('admitted');
    await migration.finish();
    expect(
      await running.kindOf({ ...request, organizationLimits: { concurrency: 1 }, admissionId: 'second' }),
    ).toBe('refused');
  });
});
