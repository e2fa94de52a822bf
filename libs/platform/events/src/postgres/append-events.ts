import type { Clock } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import type { LoggedEvent, NewEvent } from '../event-log';

/** The channel of notifications. The payload is a topic that has new events, or a `redeliveryNote`. */
export const NOTIFY_CHANNEL = 'event_log';

/**
 * $1 topic, $2 keys, $3 all payloads concatenated, $4 the start of each (from 1), $5 the length of each, $6 headers,
 * $7 now, $8 groups that need no notification. One round trip takes positions, stores, and notifies if the topic has
 * other groups, or none: the first group may be registering. A notification wakes every listener in the database, of
 * any topic, at each commit. Returns the position before the first.
 */
const APPEND = `
  with numbered as (
    insert into event_log.topics as t (topic, last_position) values ($1, cardinality($2::text[]))
    on conflict (topic) do update set last_position = t.last_position + excluded.last_position
    returning last_position - cardinality($2::text[]) as base
  ), stored as (
    insert into event_log.events (topic, position, key, payload, headers, appended_at)
    select $1, base + ordinal, key, substring($3::bytea from starts for bytes), headers, $7
    from numbered, unnest($2::text[], $4::integer[], $5::integer[], $6::jsonb[])
      with ordinality as e (key, starts, bytes, headers, ordinal)
  )
  select base, (
    select pg_notify('${NOTIFY_CHANNEL}', $1) from event_log.consumer_groups
    where topic = $1
    having coalesce(bool_or(group_name <> all($8::text[])), true)
  ) from numbered`;

/**
 * Writes events in the transaction of the given connection, or in a new one.
 *
 * @param localGroups groups whose leader is in this process; they need no notification.
 * @returns the events as written. They are in the log once the transaction commits.
 */
export async function writeEvents(
  connection: Pool | ClientBase,
  clock: Clock,
  topic: string,
  events: readonly NewEvent[],
  localGroups: readonly string[],
): Promise<LoggedEvent[]> {
  // One value is sent as binary; an array would be sent as hexadecimal text of twice the size.
  const payloads = Buffer.concat(events.map(({ payload }) => payload));
  let end = 1;
  const query = {
    name: 'event_log.append',
    text: APPEND,
    values: [
      topic,
      textArray(events, ({ key }) => key),
      payloads,
      plainArray(events, ({ payload }) => {
        const start = end;
        end += payload.length;
        return start;
      }),
      plainArray(events, ({ payload }) => payload.length),
      textArray(events, ({ headers }) => (headers === undefined ? '{}' : JSON.stringify(headers))),
      new Date(clock.now()),
      textArray(localGroups, (group) => group),
    ],
  };
  // Pool and ClientBase have different overloads of `query`; both accept this form.
  const { rows } = await (connection as ClientBase).query<{ base: bigint }>(query);
  const [written] = rows;
  if (written === undefined) throw new Error('appending events returned no positions');
  return asLogged(topic, written.base, events, payloads);
}

/** The payloads are views of one buffer, so a buffered batch is a single allocation. */
function asLogged(topic: string, base: bigint, events: readonly NewEvent[], payloads: Buffer): LoggedEvent[] {
  let end = 0;
  return events.map(({ key, payload, headers = {} }, index) => ({
    topic,
    position: base + BigInt(index + 1),
    key,
    payload: payloads.subarray(end, (end += payload.length)),
    headers,
  }));
}
