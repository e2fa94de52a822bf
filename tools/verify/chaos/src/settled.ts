import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import type { Laboratory } from './laboratory';

/** After this, what is still held, waiting or taken is a leak. */
const PATIENCE_MS = 120_000;
const POLL_MS = 250;

/**
 * Waits until nothing is under way any more: the provider serves nobody, no
 * money is held, what is settled is shown, and no slot is taken.
 *
 * @returns what is left after all patience; empty when all is settled.
 */
export async function untilSettled(
  laboratory: Laboratory,
  databaseUrl: (database: string) => string,
): Promise<string[]> {
  const ledger = new Pool({ connectionString: databaseUrl('billing_ledger'), max: 1 });
  const usage = new Pool({ connectionString: databaseUrl('usage'), max: 1 });
  try {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const left = await leftOver(laboratory, ledger, usage);
      if (left.length === 0 || Date.now() > deadline) return left;
      await delay(POLL_MS);
    }
  } finally {
    await Promise.all([ledger.end(), usage.end()]);
  }
}

async function leftOver(laboratory: Laboratory, ledger: Pool, usage: Pool): Promise<string[]> {
  const left: string[] = [];
  const inFlight = laboratory.emulator.stats().in_flight;
  if (inFlight > 0) left.push(`${inFlight} calls of the provider are under way`);
  const holds = await countOf(ledger, 'select count(*) from billing_ledger.open_holds');
  if (holds > 0) left.push(`${holds} holds are open`);
  const settled = await countOf(
    ledger,
    `select count(*) from billing_ledger.closed_holds where state = 'settled'`,
  );
  const shown = await countOf(usage, 'select count(*) from usage.generations');
  if (settled !== shown) left.push(`${settled} generations are settled, ${shown} are shown`);
  const slots = await takenSlots(laboratory);
  if (slots > 0) left.push(`${slots} slots are taken`);
  return left;
}

async function countOf(pool: Pool, sql: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}

/** Leases that run, by the limiter's own lists. */
async function takenSlots({ cluster, tenants }: Laboratory): Promise<number> {
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
