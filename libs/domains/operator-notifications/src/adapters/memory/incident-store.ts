import type { Clock, IncidentCause } from '@gateway/base';
import { afterReport, type NotificationTiming, type TrackedIncident } from '../../core/incident-rule';
import { decideNotifications, HOUR_MS, type OperatorNotification } from '../../core/notification';
import {
  MAX_DELIVERY_ATTEMPTS,
  retryAfterMs,
  type DueDelivery,
  type MemoryIncidentStore,
} from '../../core/ports';

interface Delivery {
  readonly notification: OperatorNotification;
  readonly recipient: string;
  attempts: number;
  /** Undefined when it was delivered or given up. */
  dueAt: number | undefined;
  delivered: OperatorNotification['createdAt'] | undefined;
  failure: string | undefined;
}

export interface MemoryIncidentStoreOptions {
  readonly clock: Clock;
  readonly timing: NotificationTiming;
  readonly newId: () => string;
}

export function createMemoryIncidentStore({
  clock,
  timing,
  newId,
}: MemoryIncidentStoreOptions): MemoryIncidentStore {
  const incidents = new Map<string, TrackedIncident>();
  let deliveries: Delivery[] = [];
  let notifications: OperatorNotification[] = [];
  let sent: { readonly cause: IncidentCause; readonly at: number }[] = [];
  const keyOf = ({ cause, subject }: Pick<TrackedIncident, 'cause' | 'subject'>) => `${cause} ${subject}`;

  return {
    async report(reported) {
      for (const incident of reported) {
        const key = keyOf(incident);
        incidents.set(key, afterReport(incidents.get(key), incident, clock.now(), timing));
      }
    },

    async decide(recipients, receivingSince) {
      const now = clock.now();
      sent = sent.filter(({ at }) => now - at < HOUR_MS);
      const decided = decideNotifications({
        incidents: [...incidents.values()],
        now,
        receivingSince,
        timing,
        sentWithinHour: (cause) => sent.filter((one) => one.cause === cause).length,
        newId,
      });
      for (const incident of decided.forgotten) incidents.delete(keyOf(incident));
      for (const incident of decided.changed) incidents.set(keyOf(incident), incident);
      for (const notification of decided.notifications) {
        notifications.push(notification);
        if (notification.cause) sent.push({ cause: notification.cause, at: now });
        for (const recipient of new Set(recipients)) {
          const rest = { attempts: 0, dueAt: now, delivered: undefined, failure: undefined };
          deliveries.push({ notification, recipient, ...rest });
        }
      }
      return decided.notifications;
    },

    async claimDue(limit) {
      const now = clock.now();
      const due = deliveries.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now).slice(0, limit);
      return due.map((delivery): DueDelivery => {
        delivery.attempts += 1;
        delivery.dueAt = now + retryAfterMs(delivery.attempts);
        return {
          notification: delivery.notification,
          recipient: delivery.recipient,
          attempt: delivery.attempts,
        };
      });
    },

    async recordDelivery({ notification, recipient, attempt }, failure) {
      const found = deliveries.find(
        (one) => one.notification.id === notification.id && one.recipient === recipient,
      );
      if (!found) return;
      found.failure = failure;
      if (failure === undefined) found.delivered = clock.now();
      if (failure === undefined || attempt >= MAX_DELIVERY_ATTEMPTS) found.dueAt = undefined;
    },

    takeFinished() {
      const isFinished = ({ id }: OperatorNotification) =>
        deliveries.every(({ notification, dueAt }) => notification.id !== id || dueAt === undefined);
      const finished = notifications.filter(isFinished);
      const stored = finished.map((notification) => ({
        ...notification,
        deliveries: deliveries
          .filter((one) => one.notification.id === notification.id)
          .map(({ recipient, delivered, failure }) => ({ recipient, delivered, failure })),
      }));
      notifications = notifications.filter((one) => !finished.includes(one));
      deliveries = deliveries.filter(({ notification }) => !finished.includes(notification));
      return stored;
    },
  };
}
