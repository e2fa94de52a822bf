import { backoffMs } from '@gateway/base';
import { createWaiter } from '../delivery/waiter';
import type { RunningSubscription, Subscription, Unprocessable } from '../event-log';
import type { ConsumerParts } from './consumer-parts';
import { openConsumerSession, type ConsumerSession } from './consumer-session';
import { createDeadLetterDesk } from './dead-letter-desk';
import { buryWhole } from './dead-letters';

export interface LetterCarrier extends RunningSubscription {
  /** Puts events that failed so many times into the dead letters, whole. Idempotent. */
  bury(letters: readonly Unprocessable[], attempts: number): Promise<void>;
}

/**
 * Looks after the dead letters of a group whose events are not in this
 * database. One member of the group does it at a time.
 */
export function runLetterCarrier(subscription: Subscription, parts: ConsumerParts): LetterCarrier {
  const { topic, group } = subscription;
  const { limits, log, pool, clock } = parts;
  const waiter = createWaiter();
  const desk = createDeadLetterDesk(subscription, parts, waiter);

  /** Opens sessions one after another, for as long as it takes. */
  async function runSessions(): Promise<void> {
    for (let failures = 0; !waiter.stopped;) {
      let session: ConsumerSession | undefined;
      try {
        const ears = { wake: waiter.wake, lose: waiter.wake, redeliver: desk.ask };
        session = await openConsumerSession(pool, topic, group, ears);
        while (!waiter.stopped && !(await session.takeOver())) await waiter.pause(limits.lockRetryMs);
        failures = 0;
        while (!waiter.stopped) {
          await desk.attend(session);
          await waiter.waitForWake(limits.pollIntervalMs);
        }
      } catch (error) {
        failures += 1;
        log.warn({ err: error, topic, group, failures }, 'the dead letters cannot be reached; trying again');
        await waiter.pause(backoffMs(failures, limits.backoff, Math.random()));
      } finally {
        desk.leave();
        session?.close();
      }
    }
  }

  const running = runSessions();
  return {
    async bury(letters, attempts) {
      await buryWhole(pool, { topic, group }, letters, attempts, new Date(clock.now()));
      desk.ask();
    },
    async stop() {
      waiter.stop();
      await running;
    },
  };
}
