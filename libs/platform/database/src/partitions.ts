import { DAY_MS, retry } from '@gateway/base';
import type { ClientBase, Pool } from 'pg';
import { inTransaction } from './transaction';
import { assertSchemaName } from './schema-name';

/**
 * A table that is partitioned by ranges of a key that ascends with time: a time,
 * or an id that starts with one. Partitions are contiguous and named after the
 * day on which they end, such as `events_until_20261123`. A default partition
 * accepts all other rows.
 */
export interface PartitionedTable {
  readonly schema: string;
  readonly table: string;
  /** The partition key column. */
  readonly key: string;
  /** The UTC period of one partition. */
  readonly period: 'day' | 'month';
  /** The least key of this time, as SQL text. */
  readonly smallestKeyAt: (unixMs: number) => string;
}

export interface Partition {
  readonly name: string;
  /** Midnight UTC; exclusive. */
  readonly untilUnixMs: number;
}

/**
 * Changing partitions needs a short exclusive lock on the table. While it waits
 * for running transactions, all other queries queue behind it. So it waits only
 * for this time, lets others proceed, retries a few times, and else leaves the
 * change to the next run.
 */
const LOCK_TIMEOUT_MS = 50;
/** Moving rows and attaching a partition scans what the default partition holds, for example after a long downtime. */
const STATEMENT_TIMEOUT_MS = 300_000;
const MAX_ATTEMPTS = 5;
const BACKOFF = { firstMs: 200, maxMs: 800 };
const LOCK_NOT_AVAILABLE = '55P03';

/** The partitions except the default one, oldest first. */
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
  // `Pool` and `ClientBase` overload `query` differently, but both have this overload.
  const { rows } = await (connection as ClientBase).query<{ name: string }>(query);
  return rows
    .map(({ name }) => ({ name, untilUnixMs: endOf(name) }))
    .sort((a, b) => a.untilUnixMs - b.untilUnixMs);
}

/**
 * Creates missing partitions for the current period and `ahead` further ones.
 * After a downtime, the first one also spans the missed periods. Moves their rows
 * from the default partition. Processes may call it concurrently.
 *
 * @returns the number of created partitions.
 */
export async function createPartitions(
  pool: Pool,
  table: PartitionedTable,
  { nowUnixMs, ahead }: { readonly nowUnixMs: number; readonly ahead: number },
): Promise<number> {
  const wanted = Array.from({ length: ahead + 1 }, (_, index) => periodStart(table, nowUnixMs, index + 1));
  // Check without a lock first, as there is rarely anything to do.
  const last = (await listPartitions(pool, table)).at(-1)?.untilUnixMs ?? 0;
  if (wanted.every((until) => until <= last)) return 0;
  return changePartitions(pool, table, async (client) => {
    let from = (await listPartitions(client, table)).at(-1)?.untilUnixMs;
    let created = 0;
    for (const until of wanted) {
      if (from !== undefined && until <= from) continue;
      await createPartition(client, table, from ?? periodStart(table, nowUnixMs, 0), until);
      from = until;
      created += 1;
    }
    return created;
  });
}

export interface DropOptions {
  /** Drops only partitions that end by then. */
  readonly untilUnixMs: number;
  /**
   * Whether to drop a partition. Called in the transaction that drops it, where
   * it can also record what is deleted. By default, all may be dropped.
   */
  readonly mayDrop?: (client: ClientBase, partition: Partition) => Promise<boolean>;
}

/**
 * Drops old partitions, oldest first, each in a transaction of its own. Skips a
 * partition that is locked itself, for example by a vacuum. Stops if the table is
 * locked for long, since each further attempt would block other queries again.
 *
 * @returns the number of dropped partitions.
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
      dropped += await changePartitions(pool, table, async (client) => {
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

/** A partition is locked, but not its table. */
class PartitionInUse extends Error {
  override readonly name = 'PartitionInUse';
}

/** Locks the table before the partition, in the order of its readers and writers, to avoid deadlocks. */
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

/** Runs `work` in one process at a time, and retries it after lock timeouts. */
async function changePartitions<Result>(
  pool: Pool,
  table: PartitionedTable,
  work: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const attempt = () =>
    inTransaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `partitions of ${qualified(table, table.table)}`,
      ]);
      await client.query(
        `set local lock_timeout = ${LOCK_TIMEOUT_MS}; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
      );
      return work(client);
    });
  return retry(attempt, { backoff: BACKOFF, maxAttempts: MAX_ATTEMPTS, isRetryable: isLockTimeout });
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}

async function createPartition(
  client: ClientBase,
  table: PartitionedTable,
  fromUnixMs: number,
  untilUnixMs: number,
): Promise<void> {
  const { key, smallestKeyAt } = table;
  const parent = qualified(table, table.table);
  const byDefault = qualified(table, `${table.table}_default`);
  const created = qualified(table, `${table.table}_until_${dayName(untilUnixMs)}`);
  const [from, until] = [smallestKeyAt(fromUnixMs), smallestKeyAt(untilUnixMs)].map((bound) => `'${bound}'`);
  // Create the partition as a separate table and attach it, which does not block readers and writers.
  await client.query(`create table ${created} (like ${parent} including defaults including constraints)`);
  await client.query(`lock table ${byDefault} in access exclusive mode`);
  await runLong(
    client,
    `with moved as (delete from ${byDefault} where ${key} >= ${from} and ${key} < ${until} returning *)
    insert into ${created} select * from moved`,
  );
  await runLong(
    client,
    `alter table ${parent} attach partition ${created} for values from (${from}) to (${until})`,
  );
}

function runLong(client: ClientBase, text: string): Promise<unknown> {
  const statement = { text, query_timeout: STATEMENT_TIMEOUT_MS };
  return client.query(statement);
}

/** The start of the period that is `later` periods after the period of `unixMs`. */
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
