import type { Framing } from '../dialects/dialect';
import { AwsEventStreamParser } from './aws-event-stream';
import { SseParser } from './sse-parser';

/** Divides the bytes of a stream, split anywhere, into the texts of its events. */
export interface EventParser {
  /** @returns the events that these bytes complete, in order. */
  push(bytes: Uint8Array): string[];
  /** The connection has ended. @returns a last event without its end, where the framing allows it. */
  end(): string[];
}

export function createEventParser(framing: Framing): EventParser {
  return framing === 'sse' ? new SseParser() : new AwsEventStreamParser();
}
