import { TimeoutError, withTimeout, type Clock, type UnixMs } from '@gateway/base';
import { isDatabaseUnavailable } from '@gateway/database';
import { createPeriodicTask, type Logger, type PeriodicTask } from '@gateway/runtime';
import { incidentTexts } from '../core/incident-texts';
import { MAX_RECIPIENTS, titleOf, WEBHOOK, type OperatorNotification } from '../core/notification';
import {
  NotDeliveredError,
  type DueDelivery,
  type IncidentStore,
  type MemoryIncidentStore,
  type NotificationAdminStore,
  type NotificationSender,
  type Recipients,
} from '../core/ports';

export interface DispatcherPorts {
  readonly stored: IncidentStore;
  /** For the incident that the database is unavailable. */
  readonly memory: MemoryIncidentStore;
  readonly admin: NotificationAdminStore;
  readonly sender: NotificationSender;
  readonly sendsMail: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs: number;
}

/** The time of one read; a server that does not respond must not delay the notification of that. */
const DATABASE_TIMEOUT_MS = 3_000;
const MAX_DELIVERIES_PER_ROUND = 20;

/** Who gets the next notification. */
export function recipientsOf(
  { settings, operatorEmails }: Recipients,
  sendsMail: boolean,
): readonly string[] {
  const emails = sendsMail && settings.emailEnabled ? [...operatorEmails, ...settings.extraEmails] : [];
  return [...emails.slice(0, MAX_RECIPIENTS), ...(settings.webhook ? [WEBHOOK] : [])];
}

/**
 * Periodically decides which notifications are due and sends them. While the
 * database is unavailable, it does so from memory, with the settings that it read last.
 */
export function createDispatcher(ports: DispatcherPorts): PeriodicTask {
  const { stored, memory, admin, sender, sendsMail, clock, log } = ports;
  let receivingSince = clock.now();
  let known: Recipients | undefined;

  async function round(): Promise<void> {
    if (!(await runStored())) {
      // Reports cannot be stored meanwhile, so their absence says nothing.
      receivingSince = clock.now();
      await memory.report([
        { cause: 'database_unavailable', subject: 'auth', details: 'PostgreSQL does not respond' },
      ]);
    }
    if (!known) return;
    await decideAndSend(memory, known, 0 as UnixMs);
  }

  /** @returns whether the database is available. */
  async function runStored(): Promise<boolean> {
    try {
      known = await withTimeout(admin.readRecipients(), DATABASE_TIMEOUT_MS, 'reading the recipients');
      await decideAndSend(stored, known, receivingSince);
      const sent = memory.takeFinished();
      if (sent.length > 0) await admin.addSent(sent);
      return true;
    } catch (error) {
      if (error instanceof TimeoutError || isDatabaseUnavailable(error)) return false;
      log.error({ err: error }, 'operator notifications: this round failed; retrying in the next one');
      return true;
    }
  }

  async function decideAndSend(store: IncidentStore, recipients: Recipients, since: UnixMs): Promise<void> {
    for (const notification of await store.decide(recipientsOf(recipients, sendsMail), since)) {
      report(notification);
    }
    const due = await store.claimDue(MAX_DELIVERIES_PER_ROUND);
    await Promise.all(
      due.map(async (delivery) => store.recordDelivery(delivery, await deliver(delivery, recipients))),
    );
  }

  /** @returns why the delivery failed; undefined if it succeeded. */
  async function deliver(
    { notification, recipient }: DueDelivery,
    { settings }: Recipients,
  ): Promise<string | undefined> {
    try {
      await sender.send(notification, recipient, settings);
      return undefined;
    } catch (error) {
      log.warn({ err: error, notificationId: notification.id }, 'a notification was not delivered');
      return error instanceof NotDeliveredError ? error.message : 'The notification could not be sent.';
    }
  }

  /** Also where no recipient is configured. */
  function report(notification: OperatorNotification): void {
    const { kind, cause, subjects } = notification;
    if (cause === undefined) return;
    const fields = { cause, subjects, action: incidentTexts[cause].action };
    if (kind === 'recovered') log.info(fields, titleOf(notification));
    else log.error(fields, titleOf(notification));
  }

  return createPeriodicTask(round, ports.intervalMs);
}
