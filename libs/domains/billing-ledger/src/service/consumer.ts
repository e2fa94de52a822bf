import { GenerationFinished } from '@gateway/contracts/events';
import {
  FINISHED_CONSUMER_GROUP,
  UnprocessableEventsError,
  type LoggedEvent,
  type Unprocessable,
} from '@gateway/events';
import type { ConsumerProgress } from '@gateway/base';
import type { ModuleConsumer } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import { MalformedMessageError, parseFinished } from './messages';
import type { Settle, SettleItem } from './settler';

/**
 * Consumes generation.finished and settles each generation. Events that cannot be
 * decoded or settled are rejected individually, after the rest of the batch.
 */
export function createFinishedConsumer(settle: Settle, log: Logger): ModuleConsumer {
  async function handle(events: readonly LoggedEvent[], progress?: ConsumerProgress): Promise<void> {
    const items: SettleItem[] = [];
    const eventsById = new Map<string, LoggedEvent[]>();
    const unprocessable: Unprocessable[] = [];
    for (const event of events) {
      const read = readEvent(event);
      if ('reason' in read) {
        unprocessable.push({ event, reason: read.reason });
        continue;
      }
      items.push(read);
      const { generationId } = read.generation;
      eventsById.set(generationId, [...(eventsById.get(generationId) ?? []), event]);
    }
    // Unprocessable events become dead letters before the progress is stored.
    const stored = unprocessable.length === 0 ? progress : undefined;
    for (const { generationId, reason } of await settle(items, stored)) {
      for (const event of eventsById.get(generationId) ?? []) unprocessable.push({ event, reason });
      eventsById.delete(generationId);
    }
    if (unprocessable.length > 0) {
      for (const { event, reason } of unprocessable) {
        log.error(
          { topic: event.topic, position: String(event.position), reason },
          'event cannot be settled',
        );
      }
      throw new UnprocessableEventsError(unprocessable);
    }
  }

  return { ...FINISHED_CONSUMER_GROUP, handle };
}

function readEvent({ payload, headers }: LoggedEvent): SettleItem | { reason: string } {
  let message: GenerationFinished;
  try {
    message = GenerationFinished.decode(payload);
  } catch {
    return { reason: 'its payload is not a GenerationFinished' };
  }
  try {
    return { message, generation: parseFinished(message), payload, headers };
  } catch (error) {
    if (error instanceof MalformedMessageError) return { reason: error.message };
    throw error;
  }
}
