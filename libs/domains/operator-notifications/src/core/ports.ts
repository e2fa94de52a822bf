import type { AuditEntry, Incident, UnixMs } from '@gateway/base';
import type { TrackedIncident } from './incident-rule';
import type { OperatorNotification } from './notification';

export interface NotificationSettings {
  readonly emailEnabled: boolean;
  readonly extraEmails: readonly string[];
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
}

/** Who gets notifications, and by what. */
export interface Recipients {
  readonly settings: NotificationSettings;
  /** The emails of the operators, at most MAX_RECIPIENTS. */
  readonly operatorEmails: readonly string[];
}

/** One attempt to deliver a notification to one recipient. */
export interface DueDelivery {
  readonly notification: OperatorNotification;
  /** An email address, or WEBHOOK. */
  readonly recipient: string;
  /** From 1. */
  readonly attempt: number;
}

/**
 * Incidents, and the deliveries of their notifications. Several processes may use the same store: each
 * notification is stored once, and each delivery is claimed by one process at a time.
 */
export interface IncidentStore {
  report(incidents: readonly Incident[]): Promise<void>;
  /** Stores the notifications that are due, with their deliveries. @returns them; none while another process decides. */
  decide(recipients: readonly string[], receivingSince: UnixMs): Promise<readonly OperatorNotification[]>;
  /** Claims due deliveries. They are due again later if their process terminates: delivery is at least once. */
  claimDue(limit: number): Promise<readonly DueDelivery[]>;
  /** @param failure undefined: delivered. */
  recordDelivery(delivery: DueDelivery, failure: string | undefined): Promise<void>;
}

export interface StoredNotification extends OperatorNotification {
  readonly deliveries: readonly {
    readonly recipient: string;
    readonly delivered: UnixMs | undefined;
    readonly failure: string | undefined;
  }[];
}

/** The incidents of one process: those about the database itself. */
export interface MemoryIncidentStore extends IncidentStore {
  /** Removes and returns the notifications without a due delivery. */
  takeFinished(): readonly StoredNotification[];
}

type TestOutcome = 'stored' | 'too_many';

/** Settings and history, for the page of the dashboard. Changes write their audit entry in the same transaction. */
export interface NotificationAdminStore {
  readRecipients(): Promise<Recipients>;
  /** Undefined keeps a setting, null removes the webhook. */
  setSettings(
    change: Partial<Omit<NotificationSettings, 'webhook'>> & {
      readonly webhook?: NotificationSettings['webhook'] | null;
    },
    audit: (before: NotificationSettings, after: NotificationSettings) => AuditEntry,
  ): Promise<NotificationSettings>;
  storeTest(
    notification: OperatorNotification,
    recipients: readonly string[],
    audit: AuditEntry,
  ): Promise<TestOutcome>;
  /** The incidents that are reported now, or whose end operators do not know of yet. */
  listIncidents(): Promise<readonly TrackedIncident[]>;
  /** Newest first. */
  listNotifications(limit: number): Promise<readonly StoredNotification[]>;
  /** Adds notifications that were sent while the database was unavailable. */
  addSent(notifications: readonly StoredNotification[]): Promise<void>;
}

/** Rejects with a NotDeliveredError. */
export interface NotificationSender {
  send(notification: OperatorNotification, recipient: string, settings: NotificationSettings): Promise<void>;
}

/** The message is safe to show to operators and reveals no secret. */
export class NotDeliveredError extends Error {
  override readonly name = 'NotDeliveredError';
}

/** After this many attempts a delivery is given up; its failure stays visible. */
export const MAX_DELIVERY_ATTEMPTS = 8;

/** The delay before the next attempt. */
export function retryAfterMs(attempt: number): number {
  return Math.min(15_000 * 2 ** (attempt - 1), 600_000);
}
