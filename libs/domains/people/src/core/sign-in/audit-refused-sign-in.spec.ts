import type { AuditEntry } from '@gateway/base';
import { createTestClock } from '@gateway/test-support';
import { auditRefusedSignIn, MAX_AUDITED_REFUSALS } from './audit-refused-sign-in';

describe('the entries of refused sign-ins', () => {
  it('end at a limit for all clients together', async () => {
    const clock = createTestClock();
    const entries: AuditEntry[] = [];
    let attempts = 0;
    const ports: Parameters<typeof auditRefusedSignIn>[0] = {
      auditLog: { insert: async (entry) => void entries.push(entry) },
      attempts: {
        add: async (buckets) => {
          attempts += 1;
          return buckets.map(() => ({ attempts, windowEndsAt: clock.now() }));
        },
        clear: async () => undefined,
      },
      clock,
      newId: (prefix) => `${prefix}-${attempts}`,
    };
    for (let count = 0; count < MAX_AUDITED_REFUSALS + 50; count += 1) {
      const ipAddress = `192.0.2.${count % 250}`;
      await auditRefusedSignIn(ports, { member: undefined, ipAddress, reason: 'wrong_password' });
    }
    expect(entries).toHaveLength(MAX_AUDITED_REFUSALS);
  });
});
