import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import type { DueAlert } from '../core/credit-alert';
import { AlertNotDeliveredError, type AlertSender, type CreditAlertStore } from '../core/ports';

export interface AlertDispatcherPorts {
  readonly alerts: CreditAlertStore;
  readonly senders: readonly AlertSender[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs: number;
}

export interface AlertDispatcher {
  start(): void;
  /** Waits for the round under way. */
  stop(): Promise<void>;
  /** Sends one alert. @returns why it did not arrive; undefined when it did. */
  deliver(alert: DueAlert): Promise<string | undefined>;
}

/** Alerts that one round sends. */
const ROUND_LIMIT = 10;

/** Notices balances that fall below their threshold, and tells whoever wants to know. */
export function createAlertDispatcher({
  alerts,
  senders,
  clock,
  log,
  intervalMs,
}: AlertDispatcherPorts): AlertDispatcher {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let underWay: Promise<void> = Promise.resolve();

  async function deliver(alert: DueAlert): Promise<string | undefined> {
    const failures: string[] = [];
    for (const sender of senders) {
      try {
        await sender.send(alert);
      } catch (error) {
        log.warn({ err: error, organizationId: alert.organizationId }, 'an alert did not arrive');
        failures.push(error instanceof AlertNotDeliveredError ? error.message : 'It could not be sent.');
      }
    }
    return failures.length === 0 ? undefined : failures.join(' ');
  }

  async function round(): Promise<void> {
    try {
      await alerts.watch(clock.now());
      const due = await alerts.takeDue(clock.now(), ROUND_LIMIT);
      await Promise.all(due.map(async (alert) => alerts.noteSent(alert, clock.now(), await deliver(alert))));
    } catch (error) {
      log.error({ err: error }, 'alerts could not be looked after; it is tried again');
    }
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      underWay = round().finally(schedule);
    }, intervalMs);
    timer.unref();
  }

  return {
    start: schedule,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
    deliver,
  };
}
