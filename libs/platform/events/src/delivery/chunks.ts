import { chunksWithin } from '@gateway/base';
import type { NewEvent } from '../event-log';

/** Events in chunks of at most so many events and bytes of payload. */
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
