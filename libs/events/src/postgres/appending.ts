import type { Clock } from '@gateway/base';
import { plainArray, textArray } from '@gateway/database';
import type { ClientBase, Pool } from 'pg';
import type { NewEvent } from '../event-log';
import { APPEND } from './statements';

/**
 * Writes events in the given connection's transaction, or in one of their own, and announces them to the groups
 * of their topic except those.
 *
 * @returns the position before that of the first.
 */
export async function writeEvents(
  connection: Pool | ClientBase,
  clock: Clock,
  topic: string,
  events: readonly NewEvent[],
  groupsAtHand: readonly string[],
): Promise<bigint> {
  let end = 1;
  const query = {
    name: 'event_log.append',
    text: APPEND,
    values: [
      topic,
      textArray(events, ({ key }) => key),
      // As one value: bytes travel as they are, those in an array as twice as many hexadecimal digits.
      Buffer.concat(events.map(({ payload }) => payload)),
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
  return written.base;
}
