import { backoffMs } from '@gateway/base';
import { isTransientDatabaseError } from '@gateway/database';
import type { LoggedEvent, RunningSubscription, Subscription, Unprocessable } from '../event-log';
import type { ConsumerParts } from './consumer-parts';
import { openConsumerSession, type ConsumerSession } from './consumer-session';
import { createDeadLetterDesk } from './dead-letter-desk';
import { reasonOf, unprocessableOf } from './failed-delivery';
import { createWaiter } from './waiter';

/** Thrown inside the loops to leave them when the subscription stops. */
class Stopped extends Error {}

/** Runs one member of a consumer group until it is stopped. */
export function runConsumer(subscription: Subscription, parts: ConsumerParts): RunningSubscription {
  const { topic, group } = subscription;
  const { limits, instruments, log } = parts;
  const labels = { topic, group };
  const maxBatchSize = subscription.maxBatchSize ?? limits.maxBatchSize;
  const waiter = createWaiter();
  const handled = instruments.handled.labels(labels);
  const retried = instruments.retried.labels(labels);
  const deadLettered = instruments.deadLettered.labels(labels);
  const lag = instruments.lag.labels(labels);
  const desk = createDeadLetterDesk(subscription, parts, waiter);

  /** Opens sessions one after another, for as long as it takes. */
  async function runSessions(): Promise<void> {
    for (let failures = 0; !waiter.stopped;) {
      let session: ConsumerSession | undefined;
      try {
        session = await openConsumerSession(parts.pool, topic, group, {
          wake: waiter.wake,
          redeliver: desk.ask,
        });
        while (!waiter.stopped && !(await session.takeOver())) await waiter.pause(limits.lockRetryMs);
        failures = 0;
        await consume(session);
      } catch (error) {
        if (error instanceof Stopped) return;
        failures += 1;
        log.warn({ err: error, topic, group, failures }, 'event consumer lost its connection; reconnecting');
        await waiter.pause(backoffMs(failures, limits.backoff, Math.random()));
      } finally {
        desk.leave();
        session?.close();
      }
    }
  }

  async function consume(session: ConsumerSession): Promise<void> {
    while (!waiter.stopped) {
      await desk.attend(session);
      const batch = await session.fetch(maxBatchSize, limits.maxBatchBytes);
      lag.set(batch.lag);
      const last = batch.events.at(-1);
      if (!last) {
        await waiter.waitForWake(limits.pollIntervalMs);
        continue;
      }
      await deliver(session, batch.events);
      await session.commit(last.position);
      // A batch costs much the same for one event as for fifty, and nobody waits for the answer.
      if (batch.events.length === batch.lag) await waiter.pause(limits.gatherMs);
    }
  }

  /** Returns when every event was handled or is among the dead letters. */
  async function deliver(session: ConsumerSession, events: readonly LoggedEvent[]): Promise<void> {
    let remaining = events;
    for (let failures = 1; remaining.length > 0; failures += 1) {
      try {
        await subscription.handle(remaining);
        handled.inc(remaining.length);
        return;
      } catch (error) {
        const hopeless = unprocessableOf(error, remaining);
        if (hopeless.length > 0) {
          await bury(session, hopeless, failures);
          const buried = new Set(hopeless.map(({ event }) => event.position));
          remaining = remaining.filter(({ position }) => !buried.has(position));
        } else if (parts.isTransient(error)) {
          log.warn({ err: error, topic, group, failures }, 'delivery failed; it is tried again');
        } else if (remaining.length > 1) {
          log.warn({ err: error, topic, group }, 'a batch failed; delivering its events one by one');
          return await deliverSingly(session, remaining);
        } else if (failures >= limits.maxAttempts) {
          const only = remaining[0] as LoggedEvent;
          await bury(session, [{ event: only, reason: reasonOf(error, only) }], failures);
          return;
        }
        retried.inc(remaining.length);
        // After a burial the rest is delivered at once: it has not failed.
        if (hopeless.length === 0) await pauseOrStop(backoffMs(failures, limits.backoff, Math.random()));
      }
    }
  }

  /** So that one bad event harms no other. Progress is kept after each. */
  async function deliverSingly(session: ConsumerSession, events: readonly LoggedEvent[]): Promise<void> {
    for (const event of events) {
      if (waiter.stopped) throw new Stopped();
      await deliver(session, [event]);
      await session.commit(event.position);
    }
  }

  async function bury(
    session: ConsumerSession,
    letters: readonly Unprocessable[],
    attempts: number,
  ): Promise<void> {
    await session.bury(letters, attempts, new Date(parts.clock.now()));
    deadLettered.inc(letters.length);
    desk.ask();
    for (const { event, reason } of letters) {
      log.error({ topic, group, position: event.position.toString(), key: event.key, reason }, 'dead letter');
    }
  }

  async function pauseOrStop(ms: number): Promise<void> {
    await waiter.pause(ms);
    if (waiter.stopped) throw new Stopped();
  }

  const running = runSessions();
  return {
    async stop() {
      waiter.stop();
      await running;
    },
  };
}

export const isTransientByDefault = isTransientDatabaseError;
