import type { UnixMs } from '@gateway/base';
import { afterReport, DEFAULT_TIMING, nextStep, type TrackedIncident } from './incident-rule';

const MINUTE_MS = 60_000;
const timing = DEFAULT_TIMING;
const at = (ms: number) => ms as UnixMs;

function incident(fields: Partial<TrackedIncident> = {}): TrackedIncident {
  return {
    cause: 'upstream_config_error',
    subject: 'acme/large',
    details: 'used by acme/large',
    since: at(0),
    lastReported: at(0),
    opened: undefined,
    lastNotified: undefined,
    ...fields,
  };
}

const step = (now: number, fields: Partial<TrackedIncident>, receivingSince = 0) =>
  nextStep(incident(fields), at(now), at(receivingSince), timing);

describe('the next step of an incident', () => {
  it('is a notification once it has lasted 30 seconds', () => {
    expect(step(29_999, { lastReported: at(29_000) })).toBe('wait');
    expect(step(30_000, { lastReported: at(29_000) })).toBe('opened');
  });

  it('waits for a spool twice as long, since it is often replayed within seconds', () => {
    const spool = { cause: 'spool_not_empty', lastReported: at(59_000) } as const;
    expect(step(59_999, spool)).toBe('wait');
    expect(step(60_000, spool)).toBe('opened');
  });

  it('is no notification when it ended before that', () => {
    expect(step(40_000, { lastReported: at(10_000) })).toBe('wait');
    expect(step(11 * MINUTE_MS, { lastReported: at(10_000) })).toBe('forget');
  });

  it('is nothing while it lasts, and a reminder after a day', () => {
    const opened = { opened: at(0), lastNotified: at(0) };
    const lasting = (now: number) => step(now, { ...opened, lastReported: at(now - 1_000) });
    expect(lasting(5 * MINUTE_MS)).toBe('wait');
    expect(lasting(timing.remindAfterMs)).toBe('reminder');
  });

  it('is a recovery once it was not reported for two minutes', () => {
    const opened = { opened: at(0), lastNotified: at(0), lastReported: at(0) };
    expect(step(119_999, opened)).toBe('wait');
    expect(step(120_000, opened)).toBe('recovered');
  });

  it('is no recovery while the receiver could not receive reports', () => {
    const opened = { opened: at(0), lastNotified: at(0), lastReported: at(0) };
    expect(step(10 * MINUTE_MS, opened, 9 * MINUTE_MS)).toBe('wait');
    expect(step(11 * MINUTE_MS, opened, 9 * MINUTE_MS)).toBe('recovered');
  });

  it('is at most one pair of notifications in ten minutes when it comes and goes', () => {
    const again = (now: number) =>
      step(now, { since: at(200_000), lastReported: at(now - 1_000), lastNotified: at(30_000) });
    expect(again(300_000)).toBe('wait');
    expect(again(630_000)).toBe('opened');
  });
});

describe('a report', () => {
  it('restarts an incident that had ended before operators were notified', () => {
    const known = incident({ lastReported: at(10_000) });
    const reported = (now: number, from = known) => afterReport(from, incident(), at(now), timing).since;
    expect(reported(20_000)).toBe(0);
    expect(reported(40_000)).toBe(40_000);
    expect(reported(40_000, { ...known, opened: at(5_000) })).toBe(0);
  });
});
