import { inOneMinute } from './in-one-minute';

const MINUTE_MS = 60_000;

beforeEach(() => jest.useFakeTimers({ now: 10 * MINUTE_MS }));
afterEach(() => jest.useRealTimers());

/** Each attempt takes this long, and then passes or fails. */
function attemptsOf(...results: readonly { readonly ms: number; readonly error?: Error }[]) {
  const remaining = [...results];
  return async () => {
    const next = remaining.shift();
    if (next === undefined) throw new Error('no attempt is left');
    jest.setSystemTime(Date.now() + next.ms);
    if (next.error) throw next.error;
  };
}

describe('a test of a rate limit', () => {
  const failed = new Error('failed');

  it('runs again if a new minute began, whether it passed or failed', async () => {
    const attempt = attemptsOf({ ms: MINUTE_MS, error: failed }, { ms: MINUTE_MS }, { ms: 1 });
    await inOneMinute(attempt);
    await expect(attempt()).rejects.toThrow('no attempt is left');
  });

  it('fails within a minute without another attempt', async () => {
    await expect(inOneMinute(attemptsOf({ ms: 1, error: failed }, { ms: 1 }))).rejects.toBe(failed);
  });

  it('fails if no attempt fits into a minute', async () => {
    const slow = { ms: MINUTE_MS, error: failed };
    await expect(inOneMinute(attemptsOf(slow, slow, slow))).rejects.toBe(failed);
  });
});
