import type { Clock } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import type { LoggedEvent, NewEvent } from '../event-log';
import { APPEND } from './statements';

/**
 * Writes events in the given connection's transaction, or in one of their own, and announces them to the groups
 * of their topic except those.
 *
 * @returns the events as they are written. They are in the log once the transaction commits.
 */
export async function writeEvents(
  connection: Pool | ClientBase,
  clock: Clock,
  topic: string,
  events: readonly NewEvent[],
  groupsAtHand: readonly string[],
): Promise<LoggedEvent[]> {
  // As one value: bytes travel as they are, those in an array as twice as many hexadecimal digits.
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
        const begins = end;
        end += payload.length;
        return begins;
      }),
      plainArray(events, ({ payload }) => payload.length),
      textArray(events, ({ headers }) => (headers === undefined ? '{}' : JSON.stringify(headers))),
      new Date(clock.now()),
      textArray(groupsAtHand, (group) => group),
    ],
  };
  // The two overload `query` differently; each takes this form.
  const { rows } = await (connection as ClientBase).query<{ base: bigint }>(query);
  const [written] = rows;
  if (written === undefined) throw new Error('events were written and got no positions');
  return asLogged(topic, written.base, events, payloads);
}

/** Their payloads are parts of the one value: a batch that waits for its reader is one piece of memory, not one for each event. */
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
