import { isUtcDay, msUntilUtcMidnight, utcDay, type UnixMs } from './time';

const at = (text: string) => Date.parse(text) as UnixMs;

describe('UTC time', () => {
  it('ends a day at 00:00 UTC', () => {
    expect(utcDay(at('2026-11-20T23:59:59.999Z'))).toBe('2026-11-20');
    expect(utcDay(at('2026-11-21T00:00:00.000Z'))).toBe('2026-11-21');
    expect(utcDay(at('1970-01-01T00:00:00.000Z'))).toBe('1970-01-01');
    expect(utcDay(at('1969-12-31T23:59:59.999Z'))).toBe('1969-12-31');
    expect(msUntilUtcMidnight(at('2026-11-20T23:59:59.999Z'))).toBe(1);
    expect(msUntilUtcMidnight(at('2026-11-21T00:00:00.000Z'))).toBe(86_400_000);
  });

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '20261120', '2026-11-31', ''])(
    'refuses %j as a day',
    (text) => expect(isUtcDay(text)).toBe(false),
  );

  it('accepts days that exist', () => {
    expect(isUtcDay('2028-02-29')).toBe(true);
  });
});
