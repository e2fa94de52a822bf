import { createDelivery, DeliveryStopped } from '../delivery/deliver';
import { createWaiter } from '../delivery/waiter';
import type { RunningSubscription, Subscription } from '../event-log';
import type { CommittedEventBuffer, GroupBuffer, NextEvents } from './committed-event-buffer';
import { keepSessionOpen, type ConsumerDeps, type ConsumerSession } from './consumer-session';
import { createDeadLetterRedeliverer } from './dead-letter-worker';

export interface PostgresConsumerDeps extends ConsumerDeps {
  readonly buffer: CommittedEventBuffer;
}

/** Runs one member of a consumer group until it is stopped. */
export function runConsumer(subscription: Subscription, deps: PostgresConsumerDeps): RunningSubscription {
  const { limits } = deps;
  const maxBatchSize = subscription.maxBatchSize ?? limits.maxBatchSize;
  const waiter = createWaiter();
  const redeliverer = createDeadLetterRedeliverer(subscription, deps, waiter);
  let buffer: GroupBuffer | undefined;

  async function lead(session: ConsumerSession): Promise<void> {
    const opened = (buffer = deps.buffer.open(subscription, waiter.wake));
    try {
      await consume(session, opened);
    } finally {
      opened.close();
      redeliverer.reset();
    }
  }

  async function consume(session: ConsumerSession, buffered: GroupBuffer): Promise<void> {
    const deliver = createDelivery(subscription, {
      ...deps,
      deadLetter: async (failed, attempts) => {
        await session.deadLetter(failed, attempts, new Date(deps.clock.now()));
        redeliverer.request();
      },
      commit: ({ position }) => session.commit(position),
      pause: pauseOrStop,
    });
    /** The group's position, once this session has moved it. */
    let position: bigint | undefined;
    while (!waiter.stopped) {
      await redeliverer.run(session);
      const { events, isLast } = await nextEvents(session, buffered, position);
      const last = events.at(-1);
      if (!last) {
        await waiter.waitForWake(limits.pollIntervalMs);
        continue;
      }
      await deliver(events);
      await session.commit(last.position);
      position = last.position;
      // A batch costs about the same for one event as for fifty, and no response waits for it.
      if (isLast) await waiter.pause(limits.lingerMs);
    }
  }

  /** From memory where it has the next event, from the database otherwise. */
  async function nextEvents(
    session: ConsumerSession,
    buffered: GroupBuffer,
    position?: bigint,
  ): Promise<NextEvents> {
    if (position !== undefined) {
      const next = buffered.take(position, maxBatchSize, limits.maxBatchBytes);
      if (next.events.length > 0) return next;
    }
    return session.fetch(maxBatchSize, limits.maxBatchBytes);
  }

  async function pauseOrStop(ms: number): Promise<void> {
    if (ms > 0) await waiter.pause(ms);
    if (waiter.stopped) throw new DeliveryStopped();
  }

  const running = keepSessionOpen(subscription, deps, waiter, {
    onLost() {
      // Immediately, so that later events notify the next leader.
      buffer?.close();
      waiter.wake();
    },
    onRedeliver: redeliverer.request,
    lead,
    failureText: 'the event consumer lost its connection; reconnecting',
  });
  return {
    async stop() {
      waiter.stop();
      await running;
    },
  };
}
