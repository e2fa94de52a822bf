import { TOTP, Secret } from 'otpauth';
import { AdminRefusalReason } from '@gateway/contracts/auth';
import { createEncryptionKey } from '@gateway/secrets';
import { createTestClock, eventually } from '@gateway/test-support';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const PASSWORD = 'correct horse battery';
const PERIOD_MS = 30_000;

describe('secrets of second factors in the database', () => {
  const clock = createTestClock();
  const [before, now] = [createEncryptionKey(), createEncryptionKey()];
  let auth: AuthFixture;

  beforeAll(async () => {
    auth = await createAuthFixture({ clock, encryptionKeys: [before] });
  });
  afterAll(() => auth.stop());

  const from = { ipAddress: '192.0.2.1', device: '' };

  /** Each code is accepted once, so every call advances to the next period. */
  function nextCode(base32: string): string {
    clock.advance(PERIOD_MS);
    return new TOTP({ secret: Secret.fromBase32(base32) }).generate({ timestamp: clock.now() });
  }

  async function signIn(email: string, code?: string, admin = auth.admin) {
    const { outcome } = await admin.signIn({ email, password: PASSWORD, code, ...from });
    return outcome;
  }

  /** A member with a second factor, and its secret as the authenticator app stores it. */
  async function person(email: string) {
    const { member } = await auth.member(email, PASSWORD);
    const outcome = await signIn(email);
    if (outcome?.$case !== 'signedIn') throw new Error('the sign-in was refused');
    const { sessionToken } = outcome.value;
    const enrolled = await auth.admin.enrolTotp({ sessionToken, password: PASSWORD, ...from });
    if (enrolled.outcome?.$case !== 'secret') throw new Error('the enrolment was refused');
    const { base32 } = enrolled.outcome.value;
    await auth.admin.confirmTotp({ sessionToken, code: nextCode(base32), ...from });
    return { id: member?.id ?? '', email, base32 };
  }

  async function storedOf(id: string): Promise<string> {
    const { rows } = await auth.pool.query<{ totp_secret: string }>(
      'select totp_secret from members where id = $1',
      [id],
    );
    return rows[0]?.totp_secret ?? '';
  }

  it('are encrypted, and usable for signing in', async () => {
    const ada = await person('ada@example.com');
    const stored = await storedOf(ada.id);
    expect(stored).toMatch(/^enc1\./);
    expect(stored).not.toContain(ada.base32);
    expect((await signIn(ada.email, nextCode(ada.base32)))?.$case).toBe('signedIn');
    expect((await signIn(ada.email, '000000'))?.$case).toBe('refused');
  });

  it('are useless for another member when they are copied in the database', async () => {
    const [eve, victim] = [await person('eve@example.com'), await person('victim@example.com')];
    await auth.pool.query('update members set totp_secret = $1 where id = $2', [
      await storedOf(eve.id),
      victim.id,
    ]);
    await expect(signIn(victim.email, nextCode(eve.base32))).rejects.toThrow();
  });

  it('are refused as plaintext, which a write to the database could have stored', async () => {
    const { base32, email, id } = await person('plain@example.com');
    await auth.pool.query('update members set totp_secret = $1 where id = $2', [base32, id]);
    await expect(signIn(email, nextCode(base32))).rejects.toThrow();
  });

  it('are re-encrypted at startup when they use an older key', async () => {
    const [old, second] = [await person('old@example.com'), await person('second@example.com')];
    const encryptedBefore = await storedOf(old.id);
    // A secret that no key can decrypt is skipped, and the others are still re-encrypted.
    const lost = await person('lost@example.com');
    const unreadable = (await storedOf(lost.id)).replace(/^enc1\.\w+/, 'enc1.00000000');
    await auth.pool.query('update members set totp_secret = $1 where id = $2', [unreadable, lost.id]);

    const renewed = await auth.startReplica([now, before]);
    const stored = await eventually('both are re-encrypted', async () => {
      const both = await Promise.all([storedOf(old.id), storedOf(second.id)]);
      const prefix = encryptedBefore.split('.', 2).join('.');
      return both.every((text) => text.startsWith('enc1.') && !text.startsWith(prefix)) ? both : undefined;
    });
    expect(stored[0]?.split('.')[1]).toBe(stored[1]?.split('.')[1]);
    expect(stored[0]?.split('.')[1]).not.toBe(encryptedBefore.split('.')[1]);
    expect(await storedOf(lost.id)).toBe(unreadable);
    for (const { email, base32 } of [old, second]) {
      expect((await signIn(email, nextCode(base32), renewed.admin))?.$case).toBe('signedIn');
    }
    // The old key is no longer needed.
    const newKeyOnly = await auth.startReplica([now]);
    expect((await signIn(old.email, nextCode(old.base32), newKeyOnly.admin))?.$case).toBe('signedIn');
  });

  it('cannot be created without an encryption key', async () => {
    const keyless = await createAuthFixture({ clock, encryptionKeys: null });
    try {
      await keyless.member('ada@example.com', PASSWORD);
      const signedIn = await signIn('ada@example.com', undefined, keyless.admin);
      if (signedIn?.$case !== 'signedIn') throw new Error('the sign-in was refused');
      const { sessionToken } = signedIn.value;
      const { outcome } = await keyless.admin.enrolTotp({ sessionToken, password: PASSWORD, ...from });
      expect(outcome).toMatchObject({
        $case: 'refusal',
        value: { reason: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_CONFIGURED },
      });
    } finally {
      await keyless.stop();
    }
  });
});
