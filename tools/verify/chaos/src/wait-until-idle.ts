import { once } from 'node:events';
import { TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { BillingReader } from '@gateway/load';
import { connectRedis, countSlots } from '@gateway/rate-limit/redis';
import { systemClock } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import type { ChaosTestEnv } from './chaos-test-env';
import { withKafkaAdmin } from './kafka-admin';

/** Holds, slots and events that remain after this time are leaks. */
const IDLE_TIMEOUT_MS = 120_000;
const POLL_MS = 250;
const CONSUMERS = [
  ['ledger', TOPIC_GENERATION_FINISHED],
  ['usage', TOPIC_GENERATION_SETTLED],
] as const;

/**
 * Waits until there are no provider calls in flight, no holds and no concurrency slots, usage has recorded every
 * settlement, and every event is handled: a database that lost transactions reads their events again.
 *
 * @returns what remains after the timeout; empty if nothing does
 */
export async function waitUntilIdle(testEnv: ChaosTestEnv): Promise<string[]> {
  const reader = new BillingReader(testEnv.databaseUrl);
  let pending: string[] = [];
  const isIdle = async () => {
    // A datastore may still be unavailable.
    pending = await findPendingWork(testEnv, reader).catch((error: unknown) => [String(error)]);
    return pending.length === 0 ? true : undefined;
  };
  try {
    const limits = { timeoutMs: IDLE_TIMEOUT_MS, pollMs: POLL_MS };
    await eventually('the cluster is idle', isIdle, limits).catch(() => undefined);
    return pending;
  } finally {
    await reader.close();
  }
}

async function findPendingWork(testEnv: ChaosTestEnv, reader: BillingReader): Promise<string[]> {
  const inFlight = testEnv.emulator.stats().in_flight;
  const slots = await usedSlots(testEnv);
  const pending = [
    ...(inFlight > 0 ? [`${inFlight} calls to the provider are in flight`] : []),
    ...(await reader.unfinished()),
    ...(slots > 0 ? [`${slots} concurrency slots are in use`] : []),
  ];
  return pending.length > 0 ? pending : unhandledEvents(testEnv, reader);
}

function unhandledEvents({ cluster }: ChaosTestEnv, reader: BillingReader): Promise<string[]> {
  return withKafkaAdmin(cluster.datastores.broker, async (admin) => {
    const unhandled: string[] = [];
    for (const [database, topic] of CONSUMERS) {
      const handled = await reader.handledOffsets(database, topic);
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
        const left = BigInt(high) - (handled.get(partition) ?? 0n);
        if (left > 0n) unhandled.push(`${left} events of partition ${partition} of ${topic} are not handled`);
      }
    }
    return unhandled;
  });
}

/** Unexpired leases of the rate limiter. */
async function usedSlots({ redisUrl, tenants }: ChaosTestEnv): Promise<number> {
  const redis = connectRedis({ url: redisUrl });
  try {
    await once(redis, 'ready');
    const now = systemClock.now();
    const counts = await Promise.all(
      tenants.map(({ organizationId }) => countSlots(redis, organizationId, now)),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  } finally {
    redis.disconnect();
  }
}
