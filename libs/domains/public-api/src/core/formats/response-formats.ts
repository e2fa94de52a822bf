import { eventNumbering, splitEvents } from '../stream/event-ids';
import { replayChunks } from '../stream/replay-chunks';
import { chatResponse } from './chat-response';
import { embeddingsResponse } from './embeddings/response';
import { messagesResponse } from './messages/response';
import { responsesResponse } from './responses/response';
import type { FormatName } from './request-format';
import type { ResponseContext, ResponseFormat, StreamRenderer } from './response-format';

export const responseFormats: Readonly<Record<FormatName, ResponseFormat>> = {
  chat: chatResponse,
  messages: messagesResponse,
  responses: responsesResponse,
  embeddings: embeddingsResponse,
};

/**
 * The number of the router's event after which a continued stream is read. Other formats than chat are written again from the
 * start, since their events are not those of the router.
 */
export function routerEventAfter(format: FormatName, lastEventId: number): number {
  return format === 'chat' ? lastEventId : 0;
}

/** @param lastEventId the number of the last event that the client has; undefined when its events have no ids. */
export function openResponseStream(
  format: FormatName,
  context: ResponseContext,
  lastEventId: number | undefined,
): StreamRenderer {
  const stream = responseFormats[format].openStream(context);
  if (lastEventId === undefined) return stream;
  if (format === 'chat') {
    const numbered = eventNumbering(lastEventId);
    return { ...stream, push: (chunks) => numbered(stream.push(chunks).toString()) };
  }
  const rest = eventsAfter(lastEventId);
  return {
    push: (chunks) => rest(stream.push(chunks).toString()),
    end: () => rest(stream.end()),
    fail: (error, finished) => stream.fail(error, finished),
  };
}

/** A stored response of the router. */
export interface StoredResponse {
  readonly json: Uint8Array;
  /** All events of the stream, if they were kept. */
  readonly events: string | undefined;
}

/** The events of a stored response after `lastEventId`; without stored events, those of a stream with one delta per text. */
export function replayEvents(
  format: FormatName,
  { json, events }: StoredResponse,
  context: ResponseContext,
  lastEventId: number | undefined,
): string {
  const isContinued = events !== undefined && lastEventId !== undefined;
  const stream = openResponseStream(format, context, isContinued ? lastEventId : undefined);
  const chunks = isContinued
    ? splitEvents(events).slice(routerEventAfter(format, lastEventId)).join('')
    : replayChunks(json, context.includeUsage);
  return stream.push(Buffer.from(chunks)).toString() + stream.end();
}

/** Numbers events from 1, and drops the first `count`. */
function eventsAfter(count: number): (sse: string) => string {
  let seen = 0;
  const numbered = eventNumbering(count);
  return (sse) => {
    const events = splitEvents(sse);
    const known = Math.min(events.length, Math.max(0, count - seen));
    seen += events.length;
    return numbered(events.slice(known).join(''));
  };
}
