/**
 * Times are shown in UTC, like the product's days and hours, unless a person has chosen their own zone for logs. Exact times
 * name the time zone.
 */
export type TimeZone = 'utc' | 'local';

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const MOMENT: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
};
const MOMENTS: Readonly<Record<TimeZone, Intl.DateTimeFormat>> = {
  utc: new Intl.DateTimeFormat('en-GB', { ...MOMENT, timeZone: 'UTC' }),
  local: new Intl.DateTimeFormat('en-GB', { ...MOMENT, timeZoneName: 'short' }),
};
const SHORT: Intl.DateTimeFormatOptions = { ...MOMENT, year: undefined };
const SHORT_MOMENTS: Readonly<Record<TimeZone, Intl.DateTimeFormat>> = {
  utc: new Intl.DateTimeFormat('en-GB', { ...SHORT, timeZone: 'UTC' }),
  local: new Intl.DateTimeFormat('en-GB', SHORT),
};
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "20 Nov 2026" */
export const exactDay = (time: string | Date) => DAY.format(new Date(time));

/** "20 Nov 2026, 09:00:00 UTC", or "20 Nov 2026, 10:00:00 GMT+1" */
export const exactTime = (time: string | Date, zone: TimeZone = 'utc') =>
  `${MOMENTS[zone].format(new Date(time))}${zone === 'utc' ? ' UTC' : ''}`;

/** "20 Nov, 09:00:00" in lists whose heading names the zone; with the year if it is not the current one. */
export function logTime(time: string, zone: TimeZone, now = new Date()): string {
  const at = new Date(time);
  const isThisYear = at.getUTCFullYear() === now.getUTCFullYear();
  return isThisYear ? SHORT_MOMENTS[zone].format(at) : exactTime(at, zone);
}

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

const unitFormat = (unit: string, maximumFractionDigits = 0) =>
  new Intl.NumberFormat('en', {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    minimumFractionDigits: maximumFractionDigits,
    maximumFractionDigits,
  });
const MILLISECONDS = unitFormat('millisecond');
const SECONDS = unitFormat('second');
const TENTHS_OF_SECONDS = unitFormat('second', 1);
const HUNDREDTHS_OF_SECONDS = unitFormat('second', 2);
const MINUTES = unitFormat('minute');
const HOURS = unitFormat('hour');
const DAYS = unitFormat('day');

/** "850ms", "12.4s", "3m 20s", "5m" */
export function duration(ms: number): string {
  if (Math.round(ms) < 1_000) return MILLISECONDS.format(Math.round(ms));
  if (ms < 59_950) return (ms < 9_995 ? HUNDREDTHS_OF_SECONDS : TENTHS_OF_SECONDS).format(ms / 1_000);
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return twoUnits(MINUTES, minutes, SECONDS, seconds % 60);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? twoUnits(HOURS, hours, MINUTES, minutes % 60) : DAYS.format(Math.floor(hours / 24));
}

function twoUnits(
  largeFormat: Intl.NumberFormat,
  large: number,
  smallFormat: Intl.NumberFormat,
  small: number,
): string {
  return small === 0
    ? largeFormat.format(large)
    : `${largeFormat.format(large)} ${smallFormat.format(small)}`;
}

/** The first bucket bound of the latency histogram. */
const FIRST_BOUND_MS = 10;

/** Formats an estimated quantile: "≈ 1.24s", or "< 10ms" within the first bucket. */
export const estimatedDuration = (ms: number) =>
  ms < FIRST_BOUND_MS ? `< ${duration(FIRST_BOUND_MS)}` : `≈ ${duration(ms)}`;
