import { inputValue, minuteOf, rangeEnd, rangeStart } from './time-range';

it.each([
  ['2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
  ['2026-11-20T09:30Z', '2026-11-20T09:30:00.000Z', '2026-11-20T09:31:00.000Z'],
  ['yesterday', undefined, undefined],
  ['2026-11-20T09:30', undefined, undefined],
])('reads %s', (text, start, end) => expect([rangeStart(text), rangeEnd(text)]).toEqual([start, end]));

it('shows a day as its first and its last minute', () =>
  expect([inputValue('2026-11-20', 'start', 'utc'), inputValue('2026-11-20', 'end', 'utc')]).toEqual([
    '2026-11-20T00:00',
    '2026-11-20T23:59',
  ]));

it.each(['utc', 'local'] as const)('keeps the minute that was entered, %s', (zone) => {
  const minute = minuteOf('2026-11-20T09:30', zone);
  expect(inputValue(minute, 'start', zone)).toBe('2026-11-20T09:30');
});

it('waits for a complete input', () => expect(minuteOf('', 'utc')).toBeUndefined());
