import type {
  NotificationSettings as SettingsMessage,
  OpenIncident,
  OperatorNotification as NotificationMessage,
} from '@gateway/contracts/auth';
import type { TrackedIncident } from '../core/incident-rule';
import { titleOf } from '../core/notification';
import type { NotificationSettings, StoredNotification } from '../core/ports';

/** The host stands for the URL, whose path may be a secret. */
export function settingsMessage({
  emailEnabled,
  extraEmails,
  webhook,
}: NotificationSettings): SettingsMessage {
  return {
    emailEnabled,
    extraEmails: [...extraEmails],
    webhookHost: webhook && new URL(webhook.url).host,
  };
}

export function incidentMessage(incident: TrackedIncident): OpenIncident {
  const { cause, subject, details, since, lastReported, opened } = incident;
  return {
    incident: { cause, subject, details },
    sinceUnixMs: BigInt(since),
    lastReportedUnixMs: BigInt(lastReported),
    notifiedUnixMs: opened === undefined ? undefined : BigInt(opened),
  };
}

export function notificationMessage(notification: StoredNotification): NotificationMessage {
  const { id, created, kind, cause, subjects, deliveries } = notification;
  return {
    id,
    createdUnixMs: BigInt(created),
    kind,
    cause: cause ?? '',
    title: titleOf(notification),
    subjects: subjects.map(({ subject, details }) => `${subject}: ${details}`),
    deliveries: deliveries.map(({ recipient, delivered, failure }) => ({
      recipient,
      deliveredUnixMs: delivered === undefined ? undefined : BigInt(delivered),
      failure,
    })),
  };
}
