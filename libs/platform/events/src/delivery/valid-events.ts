import type { NewEvent } from '../event-log';
import type { EventLogLimits } from './limits';

const MAX_KEY_LENGTH = 256;
/** NUL and unpaired surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** An event that the log refuses: too large, or with text that PostgreSQL cannot store. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';
}

/** Checks events before they are batched, so that an invalid one fails only its own call. */
export function assertValid(events: readonly NewEvent[], limits: EventLogLimits): void {
  for (const { key, payload, headers } of events) {
    if (payload.length > limits.maxPayloadBytes) {
      throw new InvalidEventError(`an event of ${payload.length} bytes exceeds ${limits.maxPayloadBytes}`);
    }
    if (key.length > MAX_KEY_LENGTH)
      throw new InvalidEventError(`a key exceeds ${MAX_KEY_LENGTH} characters`);
    const texts = [key, ...Object.entries(headers ?? {}).flat()];
    if (texts.some((text) => UNSTORABLE.test(text))) {
      throw new InvalidEventError('a key or header has a NUL or an unpaired surrogate');
    }
  }
}
