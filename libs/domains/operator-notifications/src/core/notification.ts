import { mailTime, type IncidentCause, type MailContent, type UnixMs } from '@gateway/base';
import {
  afterNotification,
  nextStep,
  type NotificationKind,
  type NotificationTiming,
  type TrackedIncident,
} from './incident-rule';
import { incidentTexts } from './incident-texts';

/** Beyond this, notifications of a cause wait. A service with false reports cannot delay those of other causes. */
export const MAX_PER_CAUSE_AND_HOUR = 6;
export const MAX_TESTS_PER_HOUR = 10;
export const HOUR_MS = 3_600_000;
/** Mails are sent one by one. */
export const MAX_RECIPIENTS = 50;
/** The history that the page shows. */
export const MAX_LISTED_NOTIFICATIONS = 50;
/** The recipient of the webhook. Not an email address. */
export const WEBHOOK = 'webhook';

export interface NotificationSubject {
  readonly subject: string;
  readonly details: string;
}

export interface OperatorNotification {
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly kind: NotificationKind | 'test';
  /** Undefined for a test. */
  readonly cause: IncidentCause | undefined;
  readonly subjects: readonly NotificationSubject[];
}

export interface DecideInput {
  readonly incidents: readonly TrackedIncident[];
  readonly now: UnixMs;
  readonly receivingSince: UnixMs;
  readonly timing: NotificationTiming;
  /** Notifications of a cause within the last hour. */
  sentWithinHour(cause: IncidentCause): number;
  newId(): string;
}

export interface Decisions {
  /** One per cause and kind. */
  readonly notifications: readonly OperatorNotification[];
  readonly changed: readonly TrackedIncident[];
  readonly forgotten: readonly TrackedIncident[];
}

/** Which notifications are due now. */
export function decideNotifications(input: DecideInput): Decisions {
  const { incidents, now, receivingSince, timing } = input;
  const groups = new Map<string, TrackedIncident[]>();
  const forgotten: TrackedIncident[] = [];
  for (const incident of incidents) {
    const step = nextStep(incident, now, receivingSince, timing);
    if (step === 'forget') forgotten.push(incident);
    if (step === 'forget' || step === 'wait') continue;
    const key = `${step} ${incident.cause}`;
    groups.set(key, [...(groups.get(key) ?? []), incident]);
  }
  const notifications: OperatorNotification[] = [];
  const changed: TrackedIncident[] = [];
  for (const [key, group] of groups) {
    const [kind, cause] = key.split(' ') as [NotificationKind, IncidentCause];
    const sent = input.sentWithinHour(cause) + notifications.filter((one) => one.cause === cause).length;
    if (sent >= MAX_PER_CAUSE_AND_HOUR) continue;
    const subjects = group.map(({ subject, details }) => ({ subject, details }));
    notifications.push({ id: input.newId(), createdAt: now, kind, cause, subjects });
    changed.push(...group.map((incident) => afterNotification(incident, kind, now)));
  }
  return { notifications, changed, forgotten };
}

/** The title of the notification, for the subject of an email. */
export function titleOf({ kind, cause }: Pick<OperatorNotification, 'kind' | 'cause'>): string {
  if (cause === undefined) return 'Test notification';
  const { title } = incidentTexts[cause];
  if (kind === 'recovered') return `Resolved: ${title}`;
  return kind === 'reminder' ? `Still open: ${title}` : title;
}

/** Listed in full up to this number. */
const MAX_SUBJECTS_IN_TEXT = 20;

/**
 * @param dashboardUrl the dashboard's origin; undefined: pages are named by their path.
 * @param timeZone of the recipient; undefined: unknown.
 */
export function mailOf(
  notification: OperatorNotification,
  dashboardUrl: string | undefined,
  timeZone: string | undefined,
): MailContent {
  const { kind, cause, createdAt, subjects } = notification;
  const subject = `[Inference Gateway] ${titleOf(notification)}`;
  if (cause === undefined) {
    return {
      subject,
      paragraphs: ['This is a test. Operator notifications of the Inference Gateway reach you.'],
      facts: [['Sent', mailTime(createdAt, timeZone)]],
    };
  }
  const { impact, action, page } = incidentTexts[cause];
  const listed = subjects
    .slice(0, MAX_SUBJECTS_IN_TEXT)
    .map((one): readonly [string, string] => [one.subject, one.details]);
  const more = subjects.length - listed.length;
  const facts = [
    ...listed,
    ...(more > 0 ? [['And', `${more} more`] as const] : []),
    ['Sent', mailTime(createdAt, timeZone)] as const,
  ];
  const paragraphs =
    kind === 'recovered'
      ? ['The failure is no longer observed.']
      : [`Impact: ${impact}`, `What to do: ${action}`];
  return dashboardUrl === undefined
    ? { subject, paragraphs, facts, notes: [`Page of the dashboard: ${page}`] }
    : { subject, paragraphs, facts, link: { label: 'Open the dashboard', url: `${dashboardUrl}${page}` } };
}

/** The body of the webhook. `id` is the same for every attempt, so that receivers can deduplicate. */
export function webhookMessageOf(notification: OperatorNotification, dashboardUrl: string | undefined) {
  const { id, createdAt, kind, cause, subjects } = notification;
  const text = cause && incidentTexts[cause];
  return {
    event: cause === undefined ? 'operator.test' : `operator.incident_${kind}`,
    id,
    at: new Date(createdAt).toISOString(),
    cause: cause ?? null,
    title: titleOf(notification),
    subjects,
    impact: text?.impact ?? null,
    action: text?.action ?? null,
    details_url: text && dashboardUrl !== undefined ? `${dashboardUrl}${text.page}` : null,
  };
}
