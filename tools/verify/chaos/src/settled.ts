import { BookReader } from '@gateway/load';
import { eventually } from '@gateway/test-support';
import type { ChaosLab } from './chaos-lab';

/** After this, what is still held, waiting or taken is a leak. */
const PATIENCE_MS = 120_000;
const POLL_MS = 250;

/**
 * Waits until nothing runs any more: no call of the provider is in flight, no money is held, what is settled is shown,
 * and no slot is taken.
 *
 * @returns what is left after all patience; empty when all is settled.
 */
export async function untilSettled(
  laboratory: ChaosLab,
  databaseUrl: (database: string) => string,
): Promise<string[]> {
  const reader = new BookReader(databaseUrl);
  let left: string[] = [];
  const isSettled = async () => {
    left = await leftOver(laboratory, reader);
    return left.length === 0 ? true : undefined;
  };
  try {
    await eventually('all is settled', isSettled, { patienceMs: PATIENCE_MS, pollMs: POLL_MS }).catch(
      (error: unknown) => {
        if (left.length === 0) throw error;
      },
    );
    return left;
  } finally {
    await reader.close();
  }
}

async function leftOver(laboratory: ChaosLab, reader: BookReader): Promise<string[]> {
  const inFlight = laboratory.emulator.stats().in_flight;
  const slots = await takenSlots(laboratory);
  return [
    ...(inFlight > 0 ? [`${inFlight} calls of the provider are in flight`] : []),
    ...(await reader.unfinished()),
    ...(slots > 0 ? [`${slots} slots are taken`] : []),
  ];
}

/** Leases that run, by the limiter's own lists. */
async function takenSlots({ cluster, tenants }: ChaosLab): Promise<number> {
  const { default: Redis } = await import('ioredis');
  const redis = new Redis(cluster.engines.redis.url);
  try {
    const now = Date.now();
    const counts = await Promise.all(
      tenants.map(({ organizationId }) =>
        redis.zcount(`gateway:limits:{${organizationId}}:slots`, now, '+inf'),
      ),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  } finally {
    redis.disconnect();
  }
}
