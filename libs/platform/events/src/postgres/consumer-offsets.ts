import { DatabaseError, type ClientBase, type Pool } from 'pg';
import { DeliveryStopped } from '../delivery/deliver';
import type { TopicGroup } from '../event-log';

/** The next offset that a group reads, by partition. */
export type OffsetsByPartition = ReadonlyMap<number, bigint>;

export interface PartitionAdvance {
  readonly partition: number;
  /** The stored offset as far as the consumer knows; it may be higher by now. */
  readonly knownOffset: bigint;
  readonly nextOffset: bigint;
}

/** The database has lost effects of events that the consumer has handled. */
export class StoredOffsetsBehindError extends DeliveryStopped {}

/** The error of advance_consumer_offsets. */
const BEHIND = 'GW003';

const READ = `
  select partition, next_offset from event_log.consumer_offsets where topic = $1 and group_name = $2`;

const REPLACE = `
  insert into event_log.consumer_offsets (topic, group_name, partition, next_offset)
  select $1, $2, * from unnest($3::integer[], $4::bigint[])
  on conflict (topic, group_name, partition) do update set next_offset = excluded.next_offset`;

const ADVANCE = `select event_log.advance_consumer_offsets($1, $2, $3, $4, $5)`;

export async function readConsumerOffsets(
  pool: Pool,
  { topic, group }: TopicGroup,
): Promise<OffsetsByPartition> {
  const { rows } = await pool.query<{ partition: number; next_offset: bigint }>({
    name: 'event_log.read_consumer_offsets',
    text: READ,
    values: [topic, group],
  });
  return new Map(rows.map(({ partition, next_offset }) => [partition, next_offset]));
}

/** Stores these offsets, whether or not lower or higher ones are stored. */
export async function replaceConsumerOffsets(
  pool: Pool,
  { topic, group }: TopicGroup,
  offsets: OffsetsByPartition,
): Promise<void> {
  await pool.query({ text: REPLACE, values: [topic, group, [...offsets.keys()], [...offsets.values()]] });
}

/** @throws StoredOffsetsBehindError when a lower offset than the known one is stored; nothing is stored then. */
export async function advanceConsumerOffsets(
  connection: Pool | ClientBase,
  { topic, group }: TopicGroup,
  advances: readonly PartitionAdvance[],
): Promise<void> {
  const query = {
    name: 'event_log.advance_consumer_offsets',
    text: ADVANCE,
    values: [
      topic,
      group,
      advances.map(({ partition }) => partition),
      advances.map(({ knownOffset }) => knownOffset),
      advances.map(({ nextOffset }) => nextOffset),
    ],
  };
  try {
    // Pool and ClientBase have different overloads of `query`; both accept this form.
    await (connection as ClientBase).query(query);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === BEHIND) {
      throw new StoredOffsetsBehindError(error.message, { cause: error });
    }
    throw error;
  }
}
