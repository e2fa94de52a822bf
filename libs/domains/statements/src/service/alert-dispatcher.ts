import type { Logger } from '@gateway/runtime';
import type { DueAlert, TestAlert } from '../core/credit-alert';
import { AlertNotDeliveredError, type AlertSender, type CreditAlertStore } from '../core/ports';

export interface AlertDispatcherPorts {
  readonly alerts: CreditAlertStore;
  readonly senders: readonly AlertSender[];
  readonly log: Logger;
  readonly intervalMs: number;
}

export interface AlertDispatcher {
  start(): void;
  /** Waits for the round in progress. */
  stop(): Promise<void>;
  /** Sends one alert or test. @returns why the delivery failed; undefined if it succeeded. */
  deliver(alert: DueAlert | TestAlert): Promise<string | undefined>;
}

const MAX_ALERTS_PER_ROUND = 10;

/** Periodically finds balances below their threshold and sends the alerts. */
export function createAlertDispatcher({
  alerts,
  senders,
  log,
  intervalMs,
}: AlertDispatcherPorts): AlertDispatcher {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let currentRound: Promise<void> = Promise.resolve();

  async function deliver(alert: DueAlert | TestAlert): Promise<string | undefined> {
    const failures: string[] = [];
    for (const sender of senders) {
      try {
        await sender.send(alert);
      } catch (error) {
        log.warn({ err: error, organizationId: alert.organizationId }, 'a credit alert was not delivered');
        failures.push(
          error instanceof AlertNotDeliveredError ? error.message : 'The alert could not be sent.',
        );
      }
    }
    return failures.length === 0 ? undefined : failures.join(' ');
  }

  async function round(): Promise<void> {
    try {
      await alerts.watch();
      const due = await alerts.claimDue(MAX_ALERTS_PER_ROUND);
      await Promise.all(due.map(async (alert) => alerts.recordDelivery(alert, await deliver(alert))));
    } catch (error) {
      log.error({ err: error }, 'processing credit alerts failed; retrying in the next round');
    }
  }

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      currentRound = round().finally(schedule);
    }, intervalMs);
    timer.unref();
  }

  return {
    start: schedule,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await currentRound;
    },
    deliver,
  };
}
