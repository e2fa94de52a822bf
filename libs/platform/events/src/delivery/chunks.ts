import { chunksWithin } from '@gateway/base';
import type { NewEvent } from '../event-log';

/** Splits events into chunks with limited numbers of events and payload bytes. */
export function chunksOfEvents<Event extends Pick<NewEvent, 'payload'>>(
  events: readonly Event[],
  maxEvents: number,
  maxBytes: number,
): readonly (readonly Event[])[] {
  return chunksWithin(
    events,
    { max: maxEvents, measure: () => 1 },
    { max: maxBytes, measure: ({ payload }) => payload.length },
  );
}
