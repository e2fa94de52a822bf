import { isoTime, timeOrNull } from '@gateway/admin-calls';
import type { TrackedIncident } from '../core/incident-rule';
import { titleOf } from '../core/notification';
import type { NotificationSettings, StoredNotification } from '../core/ports';

/** For responses and the audit log. The host stands for the URL, whose path may be a secret. */
export function settingsView({ emailEnabled, extraEmails, webhook }: NotificationSettings) {
  return {
    email_enabled: emailEnabled,
    extra_emails: extraEmails,
    webhook_host: webhook ? new URL(webhook.url).host : null,
  };
}

export function incidentView(incident: TrackedIncident) {
  const { cause, subject, details, since, lastReported, opened } = incident;
  return {
    cause,
    subject,
    details,
    since: isoTime(since),
    last_reported_at: isoTime(lastReported),
    notified_at: timeOrNull(opened),
  };
}

export function notificationView(notification: StoredNotification) {
  const { id, createdAt, kind, cause, subjects, deliveries } = notification;
  return {
    id,
    kind,
    created_at: isoTime(createdAt),
    cause: cause ?? null,
    title: titleOf(notification),
    subjects: subjects.map(({ subject, details }) => `${subject}: ${details}`),
    deliveries: deliveries.map(({ recipient, delivered, failure }) => ({
      recipient,
      delivered_at: timeOrNull(delivered),
      failure: failure ?? null,
    })),
  };
}
