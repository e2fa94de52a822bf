import type { IncidentCause, UnixMs } from '@gateway/base';
import type { TrackedIncident } from '../../core/incident-rule';
import type { NotificationSubject, OperatorNotification } from '../../core/notification';

export interface IncidentRow {
  readonly cause: string;
  readonly subject: string;
  readonly details: string;
  readonly since: Date;
  readonly last_reported_at: Date;
  readonly opened_at: Date | null;
  readonly last_notified_at: Date | null;
}

export interface NotificationRow {
  readonly id: string;
  readonly created_at: Date;
  readonly kind: string;
  readonly cause: string | null;
  readonly subjects: readonly NotificationSubject[];
}

/** Only known causes are written. */
export function incidentOf(row: IncidentRow): TrackedIncident {
  return {
    cause: row.cause as IncidentCause,
    subject: row.subject,
    details: row.details,
    since: row.since.getTime() as UnixMs,
    lastReported: row.last_reported_at.getTime() as UnixMs,
    opened: timeOf(row.opened_at),
    lastNotified: timeOf(row.last_notified_at),
  };
}

export function notificationOf(row: NotificationRow): OperatorNotification {
  return {
    id: row.id,
    createdAt: row.created_at.getTime() as UnixMs,
    kind: row.kind as OperatorNotification['kind'],
    cause: (row.cause as IncidentCause | null) ?? undefined,
    subjects: row.subjects,
  };
}

export function timeOf(date: Date | null): UnixMs | undefined {
  return date === null ? undefined : (date.getTime() as UnixMs);
}
