import type { Brand } from './brand';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type UnixMs = Brand<number, 'UnixMs'>;

/** A calendar day in UTC, as YYYY-MM-DD. */
export type UtcDay = Brand<string, 'UtcDay'>;

/** The current time, as a port of core code. */
export interface Clock {
  now(): UnixMs;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
/** 9999-12-31T23:59:59.999Z, the end of the last day with a four-digit year. */
export const LAST_UNIX_MS = 253_402_300_799_999n;

/** Cached, since every request formats the same day several times. */
let latestDay: { readonly sinceEpoch: number; readonly text: UtcDay } | undefined;

export function utcDay(at: UnixMs): UtcDay {
  const sinceEpoch = Math.floor(at / DAY_MS);
  if (latestDay?.sinceEpoch !== sinceEpoch) {
    latestDay = { sinceEpoch, text: new Date(at).toISOString().slice(0, 10) as UtcDay };
  }
  return latestDay.text;
}

/** Milliseconds from `at` until the next 00:00 UTC. */
export function msUntilUtcMidnight(at: UnixMs): number {
  return DAY_MS - (at % DAY_MS);
}

/** Whether the text is a day that exists, as YYYY-MM-DD. */
export function isUtcDay(text: string): text is UtcDay {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}
