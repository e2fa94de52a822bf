/** Times are shown in UTC, like the product's days and hours. Exact times name the time zone. */

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
});
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "20 Nov 2026" */
export const exactDay = (time: string | Date) => DAY.format(new Date(time));

/** "20 Nov 2026, 09:00:00 UTC" */
export const exactTime = (time: string | Date) => `${MOMENT.format(new Date(time))} UTC`;

/** "November 2026" of "2026-11" */
export const monthName = (month: string) => MONTH.format(new Date(`${month}-01T00:00:00Z`));

const STEPS = [
  { unit: 'second', ms: 1_000, below: 60_000 },
  { unit: 'minute', ms: 60_000, below: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, below: 86_400_000 },
  { unit: 'day', ms: 86_400_000, below: 14 * 86_400_000 },
] as const;

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const JUST_NOW_MS = 5_000;

/**
 * "3 min. ago", "in 2 days"; the date beyond two weeks. Past times are rounded down, future times to
 * the nearest unit.
 */
export function relativeTime(time: string | Date, now = new Date()): string {
  const distance = new Date(time).getTime() - now.getTime();
  if (Math.abs(distance) < JUST_NOW_MS) return 'just now';
  const step = STEPS.find(({ below }) => Math.abs(distance) < below);
  if (!step) return exactDay(time);
  const steps = distance / step.ms;
  return RELATIVE.format(distance < 0 ? Math.trunc(steps) : Math.round(steps), step.unit);
}

/** "850 ms", "12.4 s", "3 min 20 s", "5 min" */
export function duration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return twoUnits(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? twoUnits(hours, 'h', minutes % 60, 'min') : `${Math.floor(hours / 24)} days`;
}

const twoUnits = (large: number, largeUnit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;

/** The first bucket bound of the latency histogram. */
const FIRST_BOUND_MS = 100;

/** Formats an estimated quantile: "≈ 1.24 s", or "< 100 ms" within the first bucket. */
export const estimatedDuration = (ms: number) =>
  ms < FIRST_BOUND_MS ? `< ${FIRST_BOUND_MS} ms` : `≈ ${duration(ms)}`;
