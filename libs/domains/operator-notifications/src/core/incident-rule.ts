import type { Incident, IncidentCause, UnixMs } from '@gateway/base';

/** An incident that is or was reported. */
export interface TrackedIncident extends Incident {
  readonly since: UnixMs;
  readonly lastReported: UnixMs;
  /** When operators were notified of it; undefined if not yet, or after they were notified of its end. */
  readonly opened: UnixMs | undefined;
  /** The latest notification that it has begun or still lasts. */
  readonly lastNotified: UnixMs | undefined;
}

export interface NotificationTiming {
  /** An incident that was not reported for this long has ended. Longer than two reports. */
  readonly currentMs: number;
  /** How long an incident lasts before operators are notified, so that short failures cause no notification. */
  readonly openAfterMs: number;
  /** How long an incident is not reported before operators are notified of its end. */
  readonly recoveredAfterMs: number;
  /** The minimum time between two notifications that the same incident has begun. */
  readonly reopenAfterMs: number;
  readonly remindAfterMs: number;
}

export const DEFAULT_TIMING: NotificationTiming = {
  currentMs: 25_000,
  openAfterMs: 30_000,
  recoveredAfterMs: 120_000,
  reopenAfterMs: 600_000,
  remindAfterMs: 86_400_000,
};

/** Kinds of notifications of incidents. */
export type NotificationKind = 'opened' | 'reminder' | 'recovered';

export type IncidentStep = NotificationKind | 'wait' | 'forget';

/** A spool is often replayed within seconds. */
const EXTRA_DELAY_MS: Partial<Record<IncidentCause, number>> = { spool_not_empty: 30_000 };

/**
 * What is due for an incident now.
 *
 * @param receivingSince since when reports can arrive: a receiver that has just started cannot know that an
 *   incident has ended.
 */
export function nextStep(
  incident: TrackedIncident,
  now: UnixMs,
  receivingSince: UnixMs,
  timing: NotificationTiming,
): IncidentStep {
  const { cause, since, lastReported, opened, lastNotified } = incident;
  const silentMs = now - Math.max(lastReported, receivingSince);
  if (opened === undefined) {
    const isCurrent = now - lastReported < timing.currentMs;
    if (!isCurrent) return silentMs >= timing.reopenAfterMs ? 'forget' : 'wait';
    const hasLasted = now - since >= timing.openAfterMs + (EXTRA_DELAY_MS[cause] ?? 0);
    const mayReopen = lastNotified === undefined || now - lastNotified >= timing.reopenAfterMs;
    return hasLasted && mayReopen ? 'opened' : 'wait';
  }
  if (silentMs >= timing.recoveredAfterMs) return 'recovered';
  return now - (lastNotified ?? opened) >= timing.remindAfterMs ? 'reminder' : 'wait';
}

/** The incident after operators were notified. */
export function afterNotification(
  incident: TrackedIncident,
  kind: NotificationKind,
  now: UnixMs,
): TrackedIncident {
  if (kind === 'recovered') return { ...incident, opened: undefined };
  return { ...incident, opened: incident.opened ?? now, lastNotified: now };
}

/** The incident after a report. It starts again if it had ended before operators were notified. */
export function afterReport(
  known: TrackedIncident | undefined,
  incident: Incident,
  now: UnixMs,
  { currentMs }: NotificationTiming,
): TrackedIncident {
  if (!known)
    return { ...incident, since: now, lastReported: now, opened: undefined, lastNotified: undefined };
  const startsAgain = known.opened === undefined && now - known.lastReported >= currentMs;
  return { ...known, ...incident, since: startsAgain ? now : known.since, lastReported: now };
}
