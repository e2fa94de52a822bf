import { failureOf, tracing, type Span, type Tracing } from '@gateway/telemetry';
import type { LoggedEvent, NewEvent, Subscription } from '../event-log';

/** Appends events with a span for each that belongs to a trace. The spans of their consumers are its children. */
export function appendTraced(
  topic: string,
  events: readonly NewEvent[],
  append: (events: readonly NewEvent[]) => Promise<void>,
): Promise<void> {
  return inSpans('send', topic, undefined, events, append);
}

/** Handles events with a span for each that belongs to a trace. */
export function handleTraced(
  { topic, group, handle }: Subscription,
  events: readonly LoggedEvent[],
): Promise<void> {
  return inSpans('process', topic, group, events, handle);
}

/** Runs the work of all events once, in the span of the first sampled one. */
async function inSpans<Event extends NewEvent>(
  operation: 'send' | 'process',
  topic: string,
  group: string | undefined,
  events: readonly Event[],
  work: (events: readonly Event[]) => Promise<void>,
): Promise<void> {
  const tracer = tracing();
  if (tracer === undefined || events.every(({ headers }) => headers?.['traceparent'] === undefined)) {
    return work(events);
  }
  const spans: Span[] = [];
  const seen = events.map((event) => {
    const span = spanOf(tracer, operation, topic, group, event);
    if (span === undefined) return event;
    spans.push(span);
    return { ...event, headers: { ...event.headers, ...span.headers } };
  });
  try {
    await tracer.run(spans.find(({ isSampled }) => isSampled) ?? spans[0], () => work(seen));
    for (const span of spans) span.end();
  } catch (error) {
    for (const span of spans) span.end(failureOf(error));
    throw error;
  }
}

function spanOf(
  tracer: Tracing,
  operation: 'send' | 'process',
  topic: string,
  group: string | undefined,
  { headers }: NewEvent,
): Span | undefined {
  if (headers?.['traceparent'] === undefined) return undefined;
  return tracer.start(`${operation} ${topic}`, {
    kind: operation === 'send' ? 'producer' : 'consumer',
    parent: headers,
    attributes: {
      'messaging.operation.type': operation,
      'messaging.destination.name': topic,
      'messaging.consumer.group.name': group,
    },
  });
}
