import { DAY_MS, retry } from '@gateway/base';
import type { ClientBase, Pool } from 'pg';
import { inTransaction } from './transaction';
import { assertSchemaName } from './schema-name';

/**
 * A table that is partitioned by ranges of a key that ascends with time: a time,
 * or an id that begins with one. Its partitions are named after the day on
 * which they end, such as `events_until_20261123`, and follow each other without
 * a gap. It has a default partition, so that a row is never refused for want of
 * its own.
 */
export interface PartitionedTable {
  readonly schema: string;
  readonly table: string;
  /** The column that it is partitioned by. */
  readonly key: string;
  /** What one partition spans, in UTC. */
  readonly period: 'day' | 'month';
  /** The least key of this time, as PostgreSQL reads it. */
  readonly leastKeyAt: (unixMs: number) => string;
}

export interface Partition {
  readonly name: string;
  /** Midnight UTC; all its keys are from before. */
  readonly untilUnixMs: number;
}

/**
 * Whoever changes partitions keeps others from the table for an instant, and
 * waits for those who are at it; meanwhile everybody else, requests included,
 * queues behind it. So it waits for this long only, lets the others pass, and
 * tries again a few times; then it leaves the table for the next time.
 */
const LOCK_TIMEOUT_MS = 50;
const MAX_ATTEMPTS = 5;
const BACKOFF = { firstMs: 200, maxMs: 800 };
const LOCK_NOT_AVAILABLE = '55P03';

/** The partitions that have an end, oldest first; not the default one. */
export async function listPartitions(
  connection: Pool | ClientBase,
  { schema, table }: Pick<PartitionedTable, 'schema' | 'table'>,
): Promise<Partition[]> {
  const query = {
    text: `
      select child.relname as name
      from pg_inherits
      join pg_class child on child.oid = inhrelid
      join pg_class parent on parent.oid = inhparent
      where parent.relnamespace = $1::regnamespace and parent.relname = $2 and child.relname like $3`,
    values: [schema, table, `${table.replaceAll('_', '\\_')}\\_until\\_________`],
  };
  // The two overload `query` differently; each takes this form.
  const { rows } = await (connection as ClientBase).query<{ name: string }>(query);
  return rows
    .map(({ name }) => ({ name, untilUnixMs: endOf(name) }))
    .sort((a, b) => a.untilUnixMs - b.untilUnixMs);
}

/**
 * Makes the partitions of the present period and of `ahead` further ones, where
 * they are missing; after a long rest the first spans what was missed. Rows that
 * the default partition has taken for them move over. Safe to call from any
 * number of processes.
 *
 * @returns how many it made.
 */
export async function makePartitions(
  pool: Pool,
  table: PartitionedTable,
  { nowUnixMs, ahead }: { readonly nowUnixMs: number; readonly ahead: number },
): Promise<number> {
  const wanted = Array.from({ length: ahead + 1 }, (_, index) => periodStart(table, nowUnixMs, index + 1));
  // Looked at without a lock first: nearly always there is nothing to do.
  const last = (await listPartitions(pool, table)).at(-1)?.untilUnixMs ?? 0;
  if (wanted.every((until) => until <= last)) return 0;
  return changing(pool, table, async (client) => {
    let from = (await listPartitions(client, table)).at(-1)?.untilUnixMs;
    let made = 0;
    for (const until of wanted) {
      if (from !== undefined && until <= from) continue;
      await makePartition(client, table, from ?? periodStart(table, nowUnixMs, 0), until);
      from = until;
      made += 1;
    }
    return made;
  });
}

export interface DropOptions {
  /** Only partitions that end by then. */
  readonly untilUnixMs: number;
  /**
   * Whether a partition may go, asked in the transaction that drops it, and the
   * place to write down what is lost with it. By default each may.
   */
  readonly mayDrop?: (client: ClientBase, partition: Partition) => Promise<boolean>;
}

/**
 * Drops old partitions, each in a transaction of its own, oldest first; answers
 * how many. One that somebody is at by its own name, such as a vacuum, stays
 * until the next time; so do all when somebody is at the table for long, since
 * each further try would keep the others waiting once more.
 */
export async function dropPartitions(
  pool: Pool,
  table: PartitionedTable,
  { untilUnixMs, mayDrop = async () => true }: DropOptions,
): Promise<number> {
  let dropped = 0;
  for (const partition of await listPartitions(pool, table)) {
    if (partition.untilUnixMs > untilUnixMs) break;
    try {
      dropped += await changing(pool, table, async (client) => {
        const known = await listPartitions(client, table);
        if (!known.some(({ name }) => name === partition.name)) return 0;
        if (!(await mayDrop(client, partition))) return 0;
        await dropPartition(client, table, partition);
        return 1;
      });
    } catch (error) {
      if (error instanceof PartitionInUse) continue;
      if (isLockTimeout(error)) break;
      throw error;
    }
  }
  return dropped;
}

/** Somebody is at a partition who is not at its table. */
class PartitionInUse extends Error {
  override readonly name = 'PartitionInUse';
}

/** The table first, as its readers and writers do; then nobody comes to the partition any more. */
async function dropPartition(
  client: ClientBase,
  table: PartitionedTable,
  { name }: Partition,
): Promise<void> {
  const partition = qualified(table, name);
  await client.query(`lock table only ${qualified(table, table.table)} in access exclusive mode`);
  await client.query(`lock table ${partition} in access exclusive mode nowait`).catch((error: unknown) => {
    throw isLockTimeout(error) ? new PartitionInUse(name, { cause: error }) : error;
  });
  await client.query(`drop table ${partition}`);
}

/** One process at a time changes the partitions of a table; `work` may be done several times. */
async function changing<Result>(
  pool: Pool,
  table: PartitionedTable,
  work: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const attempt = () =>
    inTransaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `partitions of ${qualified(table, table.table)}`,
      ]);
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      return work(client);
    });
  return retry(attempt, { backoff: BACKOFF, maxAttempts: MAX_ATTEMPTS, isRetryable: isLockTimeout });
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}

async function makePartition(
  client: ClientBase,
  table: PartitionedTable,
  fromUnixMs: number,
  untilUnixMs: number,
): Promise<void> {
  const { key, leastKeyAt } = table;
  const parent = qualified(table, table.table);
  const byDefault = qualified(table, `${table.table}_default`);
  const made = qualified(table, `${table.table}_until_${dayName(untilUnixMs)}`);
  const [from, until] = [leastKeyAt(fromUnixMs), leastKeyAt(untilUnixMs)].map((bound) => `'${bound}'`);
  // Made beside the table and attached, which is the way that keeps readers and writers going.
  await client.query(`create table ${made} (like ${parent} including defaults including constraints)`);
  await client.query(`lock table ${byDefault} in access exclusive mode`);
  await client.query(`
    with moved as (delete from ${byDefault} where ${key} >= ${from} and ${key} < ${until} returning *)
    insert into ${made} select * from moved`);
  await client.query(
    `alter table ${parent} attach partition ${made} for values from (${from}) to (${until})`,
  );
}

/** Midnight UTC at the beginning of the period that lies `later` periods after that of `unixMs`. */
function periodStart({ period }: PartitionedTable, unixMs: number, later: number): number {
  if (period === 'day') return (Math.floor(unixMs / DAY_MS) + later) * DAY_MS;
  const day = new Date(unixMs);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + later, 1);
}

function dayName(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10).replaceAll('-', '');
}

function endOf(name: string): number {
  const day = name.slice(-8);
  return Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`);
}

function qualified({ schema }: PartitionedTable, name: string): string {
  assertSchemaName(schema);
  return `"${schema}"."${name}"`;
}
