import type { TimeZone } from './time';

/**
 * The ends of a time range in an address: a UTC day such as "2026-11-20", or a minute such as "2026-11-20T09:30Z". Both ends
 * are inclusive.
 */
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$/;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The first instant of the range; undefined for anything else. */
export function rangeStart(text: string | undefined): string | undefined {
  return text === undefined ? undefined : isoOf(startMs(text));
}

/** The first instant after the range; undefined for anything else. */
export function rangeEnd(text: string | undefined): string | undefined {
  return text === undefined ? undefined : isoOf(startMs(text) + (DAY.test(text) ? DAY_MS : MINUTE_MS));
}

function startMs(text: string): number {
  return DAY.test(text) || MINUTE.test(text) ? Date.parse(text) : Number.NaN;
}

const isoOf = (ms: number) => (Number.isNaN(ms) ? undefined : new Date(ms).toISOString());

/** The value of a `datetime-local` input, which has no time zone; empty without a time. */
export function inputValue(text: string | undefined, end: 'start' | 'end', zone: TimeZone): string {
  if (text === undefined) return '';
  const start = startMs(text);
  if (Number.isNaN(start)) return '';
  const ms = end === 'end' && DAY.test(text) ? start + DAY_MS - MINUTE_MS : start;
  const offsetMs = zone === 'utc' ? 0 : new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}

/** The minute of such an input; undefined while it is incomplete. */
export function minuteOf(value: string, zone: TimeZone): string | undefined {
  const ms = Date.parse(zone === 'utc' ? `${value}Z` : value);
  return Number.isNaN(ms) ? undefined : minuteAt(new Date(ms).toISOString());
}

/** The minute of a time, for an address. */
export const minuteAt = (time: string) => `${time.slice(0, 16)}Z`;
