import { HOUR_MS, nanoUsd, type UnixMs } from '@gateway/base';
import { hoursToCompare, type SettledHour } from './settled-window';

const FIRST = Date.UTC(2026, 10, 20, 22);
const MONTH_HOURS = 31 * 24;

const unixMs = (ms: number) => ms as UnixMs;
const hourly = (count: number) => Array.from({ length: count }, (_, index) => FIRST + index * HOUR_MS);
const settled = (hourUnixMs: number): SettledHour => ({
  startsAt: unixMs(hourUnixMs),
  generations: 3n,
  costNanoUsd: nanoUsd(20n),
  chargedNanoUsd: nanoUsd(10n),
});

function compared(fromUnixMs: number, untilUnixMs: number, hours: readonly SettledHour[] = []) {
  return hoursToCompare({
    organizationId: 'org-a',
    from: unixMs(fromUnixMs),
    until: unixMs(untilUnixMs),
    hours,
  });
}

const startsOf = (announced: ReturnType<typeof compared>) => announced.map(({ startsAt }) => startsAt);

it('compares every hour of the window, also across midnight, with zero settlements unless announced', () => {
  const announced = compared(FIRST, FIRST + 4 * HOUR_MS, [settled(FIRST + 2 * HOUR_MS)]);
  expect(startsOf(announced)).toEqual(hourly(4));
  expect(announced.map(({ generations }) => generations)).toEqual([0n, 0n, 3n, 0n]);
  expect(announced[2]).toEqual({
    ...settled(FIRST + 2 * HOUR_MS),
    organizationId: 'org-a',
    from: FIRST,
    until: FIRST + 4 * HOUR_MS,
  });
});

it('compares partly covered hours, and no hour that starts at the end of the window', () => {
  expect(startsOf(compared(FIRST + HOUR_MS - 1, FIRST + HOUR_MS + 1))).toEqual(hourly(2));
  expect(startsOf(compared(FIRST, FIRST + HOUR_MS))).toEqual(hourly(1));
});

it('compares hours of admission before the window', () => {
  const before = FIRST - 5 * HOUR_MS;
  expect(startsOf(compared(FIRST, FIRST + HOUR_MS, [settled(before)])).sort()).toEqual([before, FIRST]);
});

it('accepts at most 31 days, and refuses empty windows', () => {
  expect(startsOf(compared(FIRST, FIRST + MONTH_HOURS * HOUR_MS))).toEqual(hourly(MONTH_HOURS));
  expect(() => compared(FIRST, FIRST + MONTH_HOURS * HOUR_MS + 1)).toThrow(RangeError);
  expect(() => compared(FIRST, FIRST)).toThrow(RangeError);
  expect(() => compared(FIRST, FIRST - HOUR_MS)).toThrow(RangeError);
});
