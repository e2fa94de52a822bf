import { backoffMs } from '@gateway/base';
import type { DatabaseLog } from '@gateway/database';
import type { LoggedEvent, Subscription, Unprocessable } from '../event-log';
import { reasonOf, unprocessableOf } from './failed-delivery';
import type { EventLogInstruments } from './instruments';
import type { EventLogLimits } from './limits';
import { handleTraced } from './traced-events';

/** Thrown to leave a delivery whose subscription stops, or whose events are no longer this member's. */
export class DeliveryStopped extends Error {
  override readonly name = 'DeliveryStopped';
}

/** What a delivery needs of the log that the events are from. */
export interface DeliveryPorts {
  /** Puts events that failed so many times into the dead letters. Idempotent. */
  readonly bury: (letters: readonly Unprocessable[], attempts: number) => Promise<void>;
  /** The group is done with everything up to and with this event. */
  readonly commit: (event: LoggedEvent) => Promise<void>;
  /** Waits; throws DeliveryStopped when there is nothing to wait for any more. */
  readonly pause: (ms: number) => Promise<void>;
  /** Whether a handler's failure will pass by itself. Such deliveries are repeated for ever. */
  readonly isTransient: (error: unknown) => boolean;
  readonly log: DatabaseLog;
  readonly limits: EventLogLimits;
  readonly instruments: EventLogInstruments;
}

export type Deliver = (events: readonly LoggedEvent[]) => Promise<void>;

/**
 * The one policy of delivery, whatever the log is made of. Resolves when every
 * event was handled or is among the dead letters:
 * - what passes by itself is tried again for ever, with a pause that grows;
 * - what the handler names as unprocessable is buried at once, the rest goes on;
 * - any other failure of a batch makes its events be delivered one by one, and
 *   one that still fails is buried after some attempts.
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
        const hopeless = unprocessableOf(error, remaining);
        if (hopeless.length > 0) {
          await bury(hopeless, failures);
          const buried = new Set(hopeless.map(({ event }) => event.position));
          remaining = remaining.filter(({ position }) => !buried.has(position));
        } else if (isTransient(error)) {
          log.warn({ err: error, topic, group, failures }, 'delivery failed; it is tried again');
        } else if (remaining.length > 1) {
          log.warn({ err: error, topic, group }, 'a batch failed; delivering its events one by one');
          return await deliverSingly(remaining);
        } else if (failures >= limits.maxAttempts) {
          const only = remaining[0] as LoggedEvent;
          await bury([{ event: only, reason: reasonOf(error, only) }], failures);
          return;
        }
        retried.inc(remaining.length);
        // After a burial the rest is delivered at once: it has not failed.
        if (hopeless.length === 0) await ports.pause(backoffMs(failures, limits.backoff, Math.random()));
      }
    }
  }

  /** So that one bad event harms no other. Progress is kept after each. */
  async function deliverSingly(events: readonly LoggedEvent[]): Promise<void> {
    for (const event of events) {
      await ports.pause(0);
      await deliver([event]);
      await ports.commit(event);
    }
  }

  async function bury(letters: readonly Unprocessable[], attempts: number): Promise<void> {
    await ports.bury(letters, attempts);
    deadLettered.inc(letters.length);
    for (const { event, reason } of letters) {
      log.error({ topic, group, position: event.position.toString(), key: event.key, reason }, 'dead letter');
    }
  }

  return deliver;
}
