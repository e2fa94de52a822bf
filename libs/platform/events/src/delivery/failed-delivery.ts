import { UnprocessableEventsError, type LoggedEvent, type Unprocessable } from '../event-log';

/** The events of the batch that the handler reports as unprocessable; ignores other events. */
export function unprocessableOf(error: unknown, events: readonly LoggedEvent[]): readonly Unprocessable[] {
  if (!(error instanceof UnprocessableEventsError)) return [];
  const positions = new Set(events.map(({ position }) => position));
  return error.unprocessable.filter(({ event }) => positions.has(event.position));
}

/** The reason of a failed delivery of a single event. */
export function reasonOf(error: unknown, event: LoggedEvent): string {
  return unprocessableOf(error, [event])[0]?.reason ?? textOf(error);
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
