import type { Subscription, LoggedEvent } from '../event-log';
import type { ConsumerParts } from './consumer-parts';
import type { ConsumerSession } from './consumer-session';
import { reasonOf } from '../delivery/failed-delivery';
import type { Waiter } from '../delivery/waiter';

/** Letters that one visit delivers at most before events that are in order have their turn. */
const MAX_LETTERS_PER_VISIT = 10;

/** What the member in charge does about its group's dead letters, between two batches of events. */
export interface DeadLetterDesk {
  /** There is something to do: at the next visit, and soon. */
  ask(): void;
  /** Redelivers what was asked for and counts what is left; mostly does nothing at all. */
  attend(session: ConsumerSession): Promise<void>;
  /** Another member may be in charge from now on, and count. */
  leave(): void;
}

export function createDeadLetterDesk(
  { topic, group, handle }: Subscription,
  { clock, log, limits, instruments, isTransient }: ConsumerParts,
  waiter: Waiter,
): DeadLetterDesk {
  const labels = { topic, group };
  const redelivered = instruments.redelivered.labels(labels);
  let isAsked = true;
  let lastVisitMs = 0;

  function ask(): void {
    isAsked = true;
    waiter.wake();
  }

  async function attend(session: ConsumerSession): Promise<void> {
    const nowMs = performance.now();
    if (!isAsked && nowMs - lastVisitMs < limits.pollIntervalMs) return;
    isAsked = false;
    lastVisitMs = nowMs;
    let counted = await session.countLetters();
    if (counted.redelivering > 0) {
      await redeliverAll(session);
      counted = await session.countLetters();
    }
    instruments.deadLetters.set(labels, counted.waiting + counted.redelivering);
  }

  async function redeliverAll(session: ConsumerSession): Promise<void> {
    let after = -1n;
    for (let letters = 0; letters < MAX_LETTERS_PER_VISIT && !waiter.stopped; letters += 1) {
      const letter = await session.fetchRedelivery(after);
      if (!letter) return;
      await redeliver(session, letter);
      after = letter.position;
    }
    // There may be more; those in order come first.
    ask();
  }

  async function redeliver(session: ConsumerSession, letter: LoggedEvent): Promise<void> {
    const about = { topic, group, position: letter.position.toString() };
    try {
      await handle([letter]);
    } catch (error) {
      const reason = reasonOf(error, letter);
      if (isTransient(error)) {
        log.warn({ err: error, ...about }, 'a redelivery failed; the next visit tries again');
        return;
      }
      await session.buryAgain({ event: letter, reason }, new Date(clock.now()));
      log.error({ ...about, reason }, 'a redelivered event failed again');
      return;
    }
    await session.removeLetter(letter.position);
    redelivered.inc();
    log.info(about, 'a dead letter was handled after all');
  }

  return {
    ask,
    attend,
    leave() {
      isAsked = true;
      instruments.deadLetters.remove(labels);
    },
  };
}
