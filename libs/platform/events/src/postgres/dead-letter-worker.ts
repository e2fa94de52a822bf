import { reasonOf } from '../delivery/failed-delivery';
import { createWaiter, type Waiter } from '../delivery/waiter';
import type { LoggedEvent, RunningSubscription, Subscription, Unprocessable } from '../event-log';
import { keepSessionOpen, type ConsumerDeps, type ConsumerSession } from './consumer-session';
import { buryWhole } from './dead-letters';

/** Letters that one run redelivers at most before new events have their turn. */
const MAX_LETTERS_PER_RUN = 10;

/** Redelivers the dead letters of a group, between two batches of its leader. */
export interface DeadLetterRedeliverer {
  /** Requests a run, and wakes the leader for it. */
  request(): void;
  /** Redelivers the letters that are to be, and counts the others. Does nothing most of the time. */
  run(session: ConsumerSession): Promise<void>;
  /** Another member may lead, and count, from now on. */
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
    let counted = await session.countLetters();
    if (counted.redelivering > 0) {
      await redeliverAll(session);
      counted = await session.countLetters();
    }
    instruments.deadLetters.set(labels, counted.waiting + counted.redelivering);
  }

  async function redeliverAll(session: ConsumerSession): Promise<void> {
    let after = -1n;
    for (let letters = 0; letters < MAX_LETTERS_PER_RUN && !waiter.stopped; letters += 1) {
      const letter = await session.fetchRedelivery(after);
      if (!letter) return;
      await redeliver(session, letter);
      after = letter.position;
    }
    // There may be more; new events come first.
    request();
  }

  async function redeliver(session: ConsumerSession, letter: LoggedEvent): Promise<void> {
    const fields = { topic, group, position: letter.position.toString() };
    try {
      await handle([letter]);
    } catch (error) {
      const reason = reasonOf(error, letter);
      if (isTransient(error)) {
        log.warn({ err: error, ...fields }, 'a redelivery failed; the next run retries it');
        return;
      }
      await session.buryAgain({ event: letter, reason }, new Date(clock.now()));
      log.error({ ...fields, reason }, 'a redelivered event failed again');
      return;
    }
    await session.removeLetter(letter.position);
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
  /** Stores events that failed so many times as dead letters, with their payloads. Idempotent. */
  bury(letters: readonly Unprocessable[], attempts: number): Promise<void>;
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
    failureText: 'the dead letters cannot be reached; trying again',
  });
  return {
    async bury(letters, attempts) {
      await buryWhole(pool, { topic, group }, letters, attempts, new Date(clock.now()));
      redeliverer.request();
    },
    async stop() {
      waiter.stop();
      await running;
    },
  };
}
