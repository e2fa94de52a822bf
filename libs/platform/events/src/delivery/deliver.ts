import { backoffMs } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { LoggedEvent, Subscription, Unprocessable } from '../event-log';
import { reasonOf, unprocessableOf } from './failed-delivery';
import type { EventLogInstruments } from './instruments';
import type { EventLogLimits } from './limits';
import { handleTraced } from './traced-events';

/** Aborts a delivery when the subscription stops, or its events are no longer assigned to this member. */
export class DeliveryStopped extends Error {
  override readonly name = 'DeliveryStopped';
}

/** The event log, as far as a delivery needs it. */
export interface DeliveryPorts {
  /** Stores failed events as dead letters. Idempotent. */
  readonly deadLetter: (failed: readonly Unprocessable[], attempts: number) => Promise<void>;
  /** Records that the group has processed everything up to and including this event. */
  readonly commit: (event: LoggedEvent) => Promise<void>;
  /** Waits; throws DeliveryStopped when the delivery has to be aborted. */
  readonly pause: (ms: number) => Promise<void>;
  /** Whether a handler's error is temporary. Such deliveries are retried indefinitely. */
  readonly isTransient: (error: unknown) => boolean;
  readonly log: DatabaseLog;
  readonly limits: EventLogLimits;
  readonly instruments: EventLogInstruments;
}

export type Deliver = (events: readonly LoggedEvent[]) => Promise<void>;

/**
 * The delivery policy of every event log. Resolves when each event was handled or
 * dead-lettered:
 * - Temporary errors are retried indefinitely, with backoff.
 * - Events that the handler reports as unprocessable are dead-lettered immediately;
 *   the rest is delivered again.
 * - After any other error the events are delivered one by one. An event that still
 *   fails is dead-lettered after several attempts.
 */
export function createDelivery(subscription: Subscription, ports: DeliveryPorts): Deliver {
  const { topic, group } = subscription;
  const { log, limits, instruments, isTransient } = ports;
  const labels = { topic, group };
  const handled = instruments.handled.labels(labels);
  const retried = instruments.retried.labels(labels);
  const deadLettered = instruments.deadLettered.labels(labels);

  async function deliver(events: readonly LoggedEvent[]): Promise<void> {
    let remaining = events;
    for (let failures = 1; remaining.length > 0; failures += 1) {
      try {
        await handleTraced(subscription, remaining);
        handled.inc(remaining.length);
        return;
      } catch (error) {
        if (error instanceof DeliveryStopped) throw error;
        const unprocessable = unprocessableOf(error, remaining);
        if (unprocessable.length > 0) {
          await deadLetter(unprocessable, failures);
          const positions = new Set(unprocessable.map(({ event }) => event.position));
          remaining = remaining.filter(({ position }) => !positions.has(position));
        } else if (isTransient(error)) {
          log.warn({ err: error, topic, group, failures }, 'delivery failed; retrying');
        } else if (remaining.length > 1) {
          log.warn({ err: error, topic, group }, 'a batch failed; delivering its events one by one');
          return await deliverSingly(remaining);
        } else if (failures >= limits.maxAttempts) {
          const only = remaining[0] as LoggedEvent;
          await deadLetter([{ event: only, reason: reasonOf(error, only) }], failures);
          return;
        }
        retried.inc(remaining.length);
        // After dead-lettering the rest is delivered without a pause, since it has not failed.
        if (unprocessable.length === 0) await ports.pause(backoffMs(failures, limits.backoff, Math.random()));
      }
    }
  }

  /** Isolates the failing event. Commits after each event. */
  async function deliverSingly(events: readonly LoggedEvent[]): Promise<void> {
    for (const event of events) {
      await ports.pause(0);
      await deliver([event]);
      await ports.commit(event);
    }
  }

  async function deadLetter(failed: readonly Unprocessable[], attempts: number): Promise<void> {
    await ports.deadLetter(failed, attempts);
    deadLettered.inc(failed.length);
    for (const { event, reason } of failed) {
      log.error({ topic, group, position: event.position.toString(), key: event.key, reason }, 'dead letter');
    }
  }

  return deliver;
}
