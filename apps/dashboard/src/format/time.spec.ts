import { duration, estimatedDuration, exactTime, logTime, relativeTime } from './time';

const now = new Date('2026-11-20T12:00:00Z');

it.each([
  ['2026-11-20T11:59:58Z', 'just now'],
  ['2026-11-20T11:59:20Z', '40 sec. ago'],
  ['2026-11-20T11:01:00Z', '59 min. ago'],
  ['2026-11-20T00:00:00Z', '12 hr. ago'],
  ['2026-11-22T12:00:00Z', 'in 2 days'],
  ['2026-11-20T13:59:59Z', 'in 2 hr.'],
  ['2026-11-20T10:00:01Z', '1 hr. ago'],
  ['2026-10-01T12:00:00Z', '1 Oct 2026'],
])('formats %s relative to now', (time, text) => expect(relativeTime(time, now)).toBe(text));

it('shows UTC with exact times', () =>
  expect(exactTime('2026-11-20T23:30:05Z')).toBe('20 Nov 2026, 23:30:05 UTC'));

it('shows times of logs with seconds, and of other years with the year', () => {
  expect(logTime('2026-11-20T09:30:05Z', 'utc', now)).toBe('20 Nov, 09:30:05');
  expect(logTime('2025-11-20T09:30:05Z', 'utc', now)).toBe('20 Nov 2025, 09:30:05 UTC');
});

it('names the zone of local times', () =>
  expect(exactTime('2026-11-20T23:30:05Z', 'local')).toMatch(/2026, \d\d:30:05 \S+$/));

it.each([
  [3, '3ms'],
  [999.6, '1.00s'],
  [9_999, '10.0s'],
  [59_990, '1m'],
  [1_240, '1.24s'],
  [12_400, '12.4s'],
  [200_000, '3m 20s'],
  [300_000, '5m'],
  [3_599_900, '1h'],
  [7_500_000, '2h 5m'],
])('formats %s ms', (ms, text) => expect(duration(ms)).toBe(text));

it.each([
  [5, '< 10ms'],
  [50, '≈ 50ms'],
  [240, '≈ 240ms'],
  [1_240, '≈ 1.24s'],
])('marks a quantile of %s ms as an estimate', (ms, text) => expect(estimatedDuration(ms)).toBe(text));
