import { createAdaptiveBatcher } from '@gateway/runtime';
import type { EventAppender, NewEvent } from '../event-log';
import { chunksOfEvents } from './chunks';
import type { EventLogLimits } from './limits';
import { appendTraced } from './traced-events';
import { assertValid } from './valid-events';

export class EventLogOverflowError extends Error {
  override readonly name = 'EventLogOverflowError';
}

export interface BatchingAppender extends EventAppender {
  /** Resolves when the queue is empty. */
  idle(): Promise<void>;
}

export interface Write {
  readonly topic: string;
  readonly events: readonly NewEvent[];
}

export interface BatchingAppenderPorts {
  /** Writes events of one topic in their order; resolves when they are durable. */
  readonly write: (write: Write) => Promise<void>;
  readonly onAppended: (topic: string, count: number) => void;
}

/**
 * Calls that arrive during a write share the next one. Writes are sequential, so
 * events of a key keep the order of the calls.
 */
export function createBatchingAppender(
  { write, onAppended }: BatchingAppenderPorts,
  limits: EventLogLimits,
): BatchingAppender {
  const batcher = createAdaptiveBatcher<Write, void>({
    maxBatchSize: limits.maxAppendEvents,
    maxConcurrentBatches: 1,
    maxQueuedItems: limits.maxQueuedAppends,
    overflow: () => new EventLogOverflowError('too many appends are queued'),
    run: async (submissions) => {
      for (const each of writesOf(submissions, limits)) {
        await write(each);
        onAppended(each.topic, each.events.length);
      }
      return submissions.map(() => undefined);
    },
  });
  return {
    async append(topic, events) {
      assertValid(events, limits);
      if (events.length === 0) return;
      await appendTraced(topic, events, (seen) => batcher.submit({ topic, events: seen }));
    },
    idle: () => batcher.idle(),
  };
}

/** Combines submissions into as few writes as the limits allow, each of one topic, in order. */
function writesOf(submissions: readonly Write[], limits: EventLogLimits): Write[] {
  const byTopic = new Map<string, NewEvent[]>();
  for (const { topic, events } of submissions) {
    const known = byTopic.get(topic);
    if (known) known.push(...events);
    else byTopic.set(topic, [...events]);
  }
  return [...byTopic].flatMap(([topic, events]) =>
    chunksOfEvents(events, limits.maxAppendEvents, limits.maxAppendBytes).map((part) => ({
      topic,
      events: part,
    })),
  );
}
