import { reasonOf } from '../delivery/failed-delivery';
import { createWaiter, type Waiter } from '../delivery/waiter';
import type { LoggedEvent, RunningSubscription, Subscription, Unprocessable } from '../event-log';
import { keepSessionOpen, type ConsumerDeps, type ConsumerSession } from './consumer-session';
import { insertDeadLetters } from './dead-letters';

/** Limits a run, so that it does not delay new events. */
const MAX_REDELIVERIES_PER_RUN = 10;

/** Redelivers the dead letters of a group, between two batches of its leader. */
export interface DeadLetterRedeliverer {
  /** Requests a run, and wakes the leader for it. */
  request(): void;
  /** Processes requested redeliveries and updates the count. Usually there is nothing to do. */
  run(session: ConsumerSession): Promise<void>;
  /** Removes the metric, because another member may become the leader. */
  reset(): void;
}

export function createDeadLetterRedeliverer(
  { topic, group, handle }: Subscription,
  { clock, log, limits, instruments, isTransient }: ConsumerDeps,
  waiter: Waiter,
): DeadLetterRedeliverer {
  const labels = { topic, group };
  const redelivered = instruments.redelivered.labels(labels);
  let isRequested = true;
  let lastRunMs = 0;

  function request(): void {
    isRequested = true;
    waiter.wake();
  }

  async function run(session: ConsumerSession): Promise<void> {
    const nowMs = performance.now();
    if (!isRequested && nowMs - lastRunMs < limits.pollIntervalMs) return;
    isRequested = false;
    lastRunMs = nowMs;
    let counted = await session.countDeadLetters();
    if (counted.redelivering > 0) {
      await redeliverAll(session);
      counted = await session.countDeadLetters();
    }
    instruments.deadLetters.set(labels, counted.waiting + counted.redelivering);
  }

  async function redeliverAll(session: ConsumerSession): Promise<void> {
    let after = -1n;
    for (let count = 0; count < MAX_REDELIVERIES_PER_RUN && !waiter.stopped; count += 1) {
      const deadLetter = await session.fetchRedelivery(after);
      if (!deadLetter) return;
      await redeliver(session, deadLetter);
      after = deadLetter.position;
    }
    // There may be more, after new events.
    request();
  }

  async function redeliver(session: ConsumerSession, deadLetter: LoggedEvent): Promise<void> {
    const fields = { topic, group, position: deadLetter.position.toString() };
    try {
      await handle([deadLetter]);
    } catch (error) {
      const reason = reasonOf(error, deadLetter);
      if (isTransient(error)) {
        log.warn({ err: error, ...fields }, 'a redelivery failed; retrying in the next run');
        return;
      }
      await session.failRedelivery({ event: deadLetter, reason }, new Date(clock.now()));
      log.error({ ...fields, reason }, 'a redelivered event failed again');
      return;
    }
    await session.deleteRedelivered(deadLetter.position);
    redelivered.inc();
    log.info(fields, 'a redelivered dead letter was handled');
  }

  return {
    request,
    run,
    reset() {
      isRequested = true;
      instruments.deadLetters.remove(labels);
    },
  };
}

export interface DeadLetterWorker extends RunningSubscription {
  /** Stores failed events as dead letters with their payloads. Idempotent. */
  deadLetter(failed: readonly Unprocessable[], attempts: number): Promise<void>;
}

/** Stores and redelivers the dead letters of a group whose events are on Kafka. One member of the group leads. */
export function runDeadLetterWorker(subscription: Subscription, deps: ConsumerDeps): DeadLetterWorker {
  const { topic, group } = subscription;
  const { limits, pool, clock } = deps;
  const waiter = createWaiter();
  const redeliverer = createDeadLetterRedeliverer(subscription, deps, waiter);

  async function lead(session: ConsumerSession): Promise<void> {
    try {
      while (!waiter.stopped) {
        await redeliverer.run(session);
        await waiter.waitForWake(limits.pollIntervalMs);
      }
    } finally {
      redeliverer.reset();
    }
  }

  const running = keepSessionOpen(subscription, deps, waiter, {
    onLost: waiter.wake,
    onRedeliver: redeliverer.request,
    lead,
    failureText: 'the dead-letter worker lost its connection; reconnecting',
  });
  return {
    async deadLetter(failed, attempts) {
      await insertDeadLetters(pool, { topic, group }, failed, attempts, new Date(clock.now()));
      redeliverer.request();
    },
    async stop() {
      waiter.stop();
      await running;
    },
  };
}
