import { createNaturalBatcher } from '@gateway/runtime';
import type { Clock } from '@gateway/base';
import type { ClientBase, Pool } from 'pg';
import type { EventAppender, NewEvent } from '../event-log';
import type { EventLogLimits } from './limits';
import { APPEND } from './statements';

const MAX_KEY_LENGTH = 256;
/** NUL and halves of surrogate pairs. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

/** An event that the log refuses: too large, or with text that the database cannot hold. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError';
}

export class EventLogOverflowError extends Error {
  override readonly name = 'EventLogOverflowError';
}

export interface BatchingAppender extends EventAppender {
  /** Resolves when nothing waits to be written. */
  idle(): Promise<void>;
}

interface Submission {
  readonly topic: string;
  readonly events: readonly NewEvent[];
}

/**
 * Calls that arrive while a write is under way travel together in the next: one
 * commit for all. One write at a time, since the topic's row would make a
 * second one wait anyway.
 */
export function createAppender(
  pool: Pool,
  clock: Clock,
  limits: EventLogLimits,
  onAppended: (topic: string, count: number) => void,
): BatchingAppender {
  const batcher = createNaturalBatcher<Submission, void>({
    maxBatchSize: limits.maxAppendEvents,
    maxConcurrentBatches: 1,
    maxQueuedItems: limits.maxQueuedAppends,
    overflow: () => new EventLogOverflowError('too many events wait to be appended'),
    run: async (submissions) => {
      for (const { topic, events } of writesOf(submissions, limits)) {
        await writeEvents(pool, clock, topic, events);
        onAppended(topic, events.length);
      }
      return submissions.map(() => undefined);
    },
  });
  return {
    async append(topic, events) {
      assertValid(events, limits);
      if (events.length > 0) await batcher.submit({ topic, events });
    },
    idle: () => batcher.idle(),
  };
}

/** The submissions as few writes as the limits allow, each of one topic, in order. */
function writesOf(submissions: readonly Submission[], limits: EventLogLimits): Submission[] {
  const byTopic = new Map<string, NewEvent[]>();
  for (const { topic, events } of submissions) {
    const known = byTopic.get(topic);
    if (known) known.push(...events);
    else byTopic.set(topic, [...events]);
  }
  return [...byTopic].flatMap(([topic, events]) =>
    chunk(events, limits).map((part) => ({ topic, events: part })),
  );
}

function chunk(events: readonly NewEvent[], limits: EventLogLimits): NewEvent[][] {
  const chunks: NewEvent[][] = [];
  let current: NewEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const full =
      current.length >= limits.maxAppendEvents || bytes + event.payload.length > limits.maxAppendBytes;
    if (full && current.length > 0) {
      chunks.push(current);
      current = [];
      bytes = 0;
    }
    current.push(event);
    bytes += event.payload.length;
  }
  if (current.length > 0) chunks.push(current);
  return chunks;
}

/** Writes events in the given connection's transaction, or in one of their own. */
export async function writeEvents(
  connection: Pool | ClientBase,
  clock: Clock,
  topic: string,
  events: readonly NewEvent[],
): Promise<void> {
  const query = {
    name: 'event_log.append',
    text: APPEND,
    values: [
      topic,
      events.map(({ key }) => key),
      events.map(({ payload }) => Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)),
      events.map(({ headers }) => JSON.stringify(headers ?? {})),
      new Date(clock.now()),
    ],
  };
  // The two overload `query` differently; each takes this form.
  await (connection as ClientBase).query(query);
}

/** Checked before events are batched, so that a bad one is refused alone. */
export function assertValid(events: readonly NewEvent[], limits: EventLogLimits): void {
  for (const { key, payload, headers } of events) {
    if (payload.length > limits.maxPayloadBytes) {
      throw new InvalidEventError(`an event of ${payload.length} bytes exceeds ${limits.maxPayloadBytes}`);
    }
    if (key.length > MAX_KEY_LENGTH)
      throw new InvalidEventError(`a key exceeds ${MAX_KEY_LENGTH} characters`);
    const texts = [key, ...Object.entries(headers ?? {}).flat()];
    if (texts.some((text) => UNSTORABLE.test(text))) {
      throw new InvalidEventError('a key or header holds a NUL or half a surrogate pair');
    }
  }
}
