import { UnprocessableEventsError, type LoggedEvent, type Unprocessable } from '../event-log';

/** What of the batch the handler gave up on; events it did not get are not its to name. */
export function unprocessableOf(error: unknown, events: readonly LoggedEvent[]): readonly Unprocessable[] {
  if (!(error instanceof UnprocessableEventsError)) return [];
  const positions = new Set(events.map(({ position }) => position));
  return error.unprocessable.filter(({ event }) => positions.has(event.position));
}

/** Why an event that was delivered alone failed. */
export function reasonOf(error: unknown, event: LoggedEvent): string {
  return unprocessableOf(error, [event])[0]?.reason ?? textOf(error);
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
