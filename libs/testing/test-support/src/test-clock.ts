import type { Clock, UnixMs } from '@gateway/base';

export interface TestClock extends Clock {
  advance(byMs: number): void;
  set(toUnixMs: number): void;
}

/** 2026-11-20T09:00:00Z, a time of day far from the edges of a minute or a day. */
export const DEFAULT_START_UNIX_MS = Date.UTC(2026, 10, 20, 9, 0, 20);

/** A clock that advances only when it is moved. */
export function createTestClock(startUnixMs: number = DEFAULT_START_UNIX_MS): TestClock {
  let nowUnixMs = startUnixMs;
  return {
    now: () => nowUnixMs as UnixMs,
    advance(byMs) {
      nowUnixMs += byMs;
    },
    set(toUnixMs) {
      nowUnixMs = toUnixMs;
    },
  };
}
