import type { Framing } from '../dialects/dialect';
import type { UpstreamFailure } from '../failure/upstream-failure';
import { AwsEventStreamParser } from './aws-event-stream';
import { SseParser } from './sse-parser';

/** Divides the bytes of a stream, split anywhere, into the texts of its events. */
export interface EventParser {
  /** @returns the events that these bytes complete, in order. */
  push(bytes: Uint8Array): string[];
  /** Whether the provider sends one JSON object instead of a stream. It is returned as the last event. */
  readonly isWhole?: boolean | undefined;
  /** Why the bytes after the returned events are unreadable. */
  readonly failure?: UpstreamFailure | undefined;
  /** The connection has ended. @returns a last event without its end, where the framing allows it. */
  end(): string[];
}

export function createEventParser(framing: Framing): EventParser {
  return framing === 'sse' ? new SseParser() : new AwsEventStreamParser();
}
