import type { UnixMs } from '@gateway/base';
import { createTestClock } from '@gateway/test-support';
import type { AttemptCounter } from '../ports';
import { countEmails, MAX_EMAILS } from './count-emails';

const HOUR_MS = 3_600_000;

/** Counts like the database. */
function createCounter(): AttemptCounter {
  const counts = new Map<string, { attempts: number; windowEndsAt: UnixMs }>();
  return {
    async add(buckets, by, now, windowMs) {
      return buckets.map((bucket) => {
        const stored = counts.get(bucket);
        const current = stored && stored.windowEndsAt > now ? stored : undefined;
        const counted = {
          attempts: (current?.attempts ?? 0) + by,
          windowEndsAt: current?.windowEndsAt ?? ((now + windowMs) as UnixMs),
        };
        counts.set(bucket, counted);
        return counted;
      });
    },
    clear: async (bucket) => void counts.delete(bucket),
  };
}

describe('the emails that people trigger', () => {
  const clock = createTestClock();
  let ports: Parameters<typeof countEmails>[0];
  beforeEach(() => {
    ports = { attempts: createCounter(), clock };
  });
  const send = (personId: string, organizationId: string, recipients: readonly string[]) =>
    countEmails(ports, { personId, organizationId, recipients });
  const twenty = (round: number) =>
    Array.from({ length: 20 }, (_, index) => `p${round}-${index}@example.com`);

  it('are limited per person, each recipient counting', async () => {
    for (let round = 0; round < MAX_EMAILS.person / 20; round += 1) {
      expect(await send('mem-1', `org-${round}`, twenty(round))).toBeUndefined();
    }
    expect(await send('mem-1', 'org-9', ['one-more@example.com'])).toMatchObject({
      reason: 'too_many_attempts',
      message: 'Too many emails were sent. Try again in 60 minutes.',
      retryAfterMs: HOUR_MS,
    });
    expect(await send('mem-2', 'org-9', ['one-more@example.com'])).toBeUndefined();
  });

  it('are limited per organization, whatever persons they come from', async () => {
    for (let round = 0; round < MAX_EMAILS.organization / 20; round += 1) {
      expect(await send(`mem-${round}`, 'org-1', twenty(round))).toBeUndefined();
    }
    expect(await send('mem-9', 'org-1', ['one-more@example.com'])).toBeDefined();
    expect(await send('mem-9', 'org-2', ['one-more@example.com'])).toBeUndefined();
  });

  it('are limited per recipient, in any spelling, until the hour has passed', async () => {
    for (let count = 0; count < MAX_EMAILS.recipient; count += 1) {
      expect(await send(`mem-${count}`, `org-${count}`, ['ada@example.com'])).toBeUndefined();
    }
    expect(await send('mem-99', 'org-99', [' ADA@example.com'])).toBeDefined();
    clock.advance(HOUR_MS);
    expect(await send('mem-99', 'org-99', ['ada@example.com'])).toBeUndefined();
  });

  it('count nothing without a recipient', async () => {
    for (let count = 0; count < 200; count += 1) expect(await send('mem-1', 'org-1', [])).toBeUndefined();
  });
});
