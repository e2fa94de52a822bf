import type { UnixMs } from '@gateway/base';
import { createBackgroundWork } from '../../adapters/memory/background-work';
import { requestPasswordReset } from './password-reset';

describe('a requested password reset', () => {
  const background = createBackgroundWork({ warn: () => undefined });
  const lookups: string[] = [];
  const ports = {
    mailer: { send: async () => undefined },
    attempts: {
      add: async (buckets: readonly string[]) =>
        buckets.map(() => ({ attempts: 1, windowEndsAt: 1 as UnixMs })),
    },
    addressRanges: { networkOf: (address: string) => address },
    clock: { now: () => 0 as UnixMs },
    background,
    // Whatever depends on the member is never done, so a response that waited for it would not come.
    members: {
      findByEmail: (email: string) => {
        lookups.push(email);
        return new Promise<never>(() => undefined);
      },
    },
  } as unknown as Parameters<typeof requestPasswordReset>[0];
  const request = (email: string) =>
    requestPasswordReset(ports, { email, ipAddress: '192.0.2.1', dashboardUrl: 'https://d.example.com' });

  it('gets its response before the member is looked up, so its time reveals no member', async () => {
    expect(await request('Ada@example.com')).toBeUndefined();
    expect(lookups).toEqual(['ada@example.com']);
  });

  it('is refused while too many are unfinished', async () => {
    const requests = Array.from({ length: 120 }, (_, index) => request(`p${index}@example.com`));
    const results = await Promise.allSettled(requests);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(21);
  });
});
