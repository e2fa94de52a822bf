import { backoffMs } from '@gateway/base';
import { isTransientDatabaseError } from '@gateway/database';
import { createDelivery, DeliveryStopped } from '../delivery/deliver';
import { createWaiter } from '../delivery/waiter';
import type { RunningSubscription, Subscription } from '../event-log';
import type { AtHand, Inbox, NextEvents } from './at-hand';
import type { ConsumerParts } from './consumer-parts';
import { openConsumerSession, type ConsumerSession } from './consumer-session';
import { createDeadLetterDesk } from './dead-letter-desk';

export interface TableConsumerParts extends ConsumerParts {
  readonly atHand: AtHand;
}

/** Runs one member of a consumer group until it is stopped. */
export function runConsumer(subscription: Subscription, parts: TableConsumerParts): RunningSubscription {
  const { topic, group } = subscription;
  const { limits, log } = parts;
  const maxBatchSize = subscription.maxBatchSize ?? limits.maxBatchSize;
  const waiter = createWaiter();
  const desk = createDeadLetterDesk(subscription, parts, waiter);

  /** Opens sessions one after another, for as long as it takes. */
  async function runSessions(): Promise<void> {
    for (let failures = 0; !waiter.stopped;) {
      let session: ConsumerSession | undefined;
      let inbox: Inbox | undefined;
      try {
        session = await openConsumerSession(parts.pool, topic, group, {
          wake: waiter.wake,
          redeliver: desk.ask,
          lose() {
            // At once, so that what is appended meanwhile is announced to whoever takes over.
            inbox?.leave();
            waiter.wake();
          },
        });
        while (!waiter.stopped && !(await session.takeOver())) await waiter.pause(limits.lockRetryMs);
        inbox = parts.atHand.enter(subscription, waiter.wake);
        failures = 0;
        await consume(session, inbox);
      } catch (error) {
        if (error instanceof DeliveryStopped) return;
        failures += 1;
        log.warn({ err: error, topic, group, failures }, 'event consumer lost its connection; reconnecting');
        await waiter.pause(backoffMs(failures, limits.backoff, Math.random()));
      } finally {
        inbox?.leave();
        desk.leave();
        session?.close();
      }
    }
  }

  async function consume(session: ConsumerSession, inbox: Inbox): Promise<void> {
    const deliver = createDelivery(subscription, {
      ...parts,
      bury: async (letters, attempts) => {
        await session.bury(letters, attempts, new Date(parts.clock.now()));
        desk.ask();
      },
      commit: ({ position }) => session.commit(position),
      pause: pauseOrStop,
    });
    /** The group's position, once this session has moved it. */
    let position: bigint | undefined;
    while (!waiter.stopped) {
      await desk.attend(session);
      const { events, isLast } = await next(session, inbox, position);
      const last = events.at(-1);
      if (!last) {
        await waiter.waitForWake(limits.pollIntervalMs);
        continue;
      }
      await deliver(events);
      await session.commit(last.position);
      position = last.position;
      // A batch costs much the same for one event as for fifty, and nobody waits for the answer.
      if (isLast) await waiter.pause(limits.gatherMs);
    }
  }

  /** From what is at hand, and from the database where that is not what comes next. */
  async function next(session: ConsumerSession, inbox: Inbox, position?: bigint): Promise<NextEvents> {
    if (position !== undefined) {
      const atHand = inbox.take(position, maxBatchSize, limits.maxBatchBytes);
      if (atHand.events.length > 0) return atHand;
    }
    return session.fetch(maxBatchSize, limits.maxBatchBytes);
  }

  async function pauseOrStop(ms: number): Promise<void> {
    if (ms > 0) await waiter.pause(ms);
    if (waiter.stopped) throw new DeliveryStopped();
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
