import type { Clock } from '@gateway/base';
import type { ClientBase, Pool } from 'pg';
import type { NewEvent } from '../event-log';
import { APPEND } from './statements';

/** Writes events in the given connection's transaction, or in one of their own. */
export async function writeEvents(
  connection: Pool | ClientBase,
  clock: Clock,
  topic: string,
  events: readonly NewEvent[],
): Promise<void> {
  const query = {
    name: 'event_log.append',
    text: APPEND,
    values: [
      topic,
      events.map(({ key }) => key),
      events.map(({ payload }) => Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)),
      events.map(({ headers }) => JSON.stringify(headers ?? {})),
      new Date(clock.now()),
    ],
  };
  // The two overload `query` differently; each takes this form.
  await (connection as ClientBase).query(query);
}
