import { TOTP, Secret } from 'otpauth';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createEncryptionKey } from '@gateway/secrets';
import { createTestClock, eventually } from '@gateway/test-support';
import { codeOf, createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

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

  /** Each code is accepted once, so every call advances to the next period. */
  function nextCode(base32: string): string {
    clock.advance(PERIOD_MS);
    return new TOTP({ secret: Secret.fromBase32(base32) }).generate({ timestamp: clock.now() });
  }

  const signIn = (email: string, code?: string, replica: Pick<AuthFixture, 'signIn'> = auth) =>
    replica.signIn(email, PASSWORD, code);

  /** A member with a second factor, and its secret as the authenticator app stores it. */
  async function person(email: string) {
    const { member } = await auth.member(email, PASSWORD);
    const client = await auth.endpointsOf((await signIn(email)).session_token);
    const { secret: base32 } = await client.call(endpoints.account.enrolTotp, {
      body: { password: PASSWORD },
    });
    await client.call(parts.confirmTotp, { body: { code: nextCode(base32) } });
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
    expect(await codeOf(signIn(ada.email, nextCode(ada.base32)))).toBeUndefined();
    expect(await codeOf(signIn(ada.email, '000000'))).toBe('second_factor_refused');
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
      expect(await codeOf(signIn(email, nextCode(base32), renewed))).toBeUndefined();
    }
    // The old key is no longer needed.
    const newKeyOnly = await auth.startReplica([now]);
    expect(await codeOf(signIn(old.email, nextCode(old.base32), newKeyOnly))).toBeUndefined();
  });

  it('cannot be created without an encryption key', async () => {
    const keyless = await createAuthFixture({ clock, encryptionKeys: null });
    try {
      await keyless.member('ada@example.com', PASSWORD);
      const { session_token: token } = await signIn('ada@example.com', undefined, keyless);
      const client = await keyless.endpointsOf(token);
      const enrolled = client.call(endpoints.account.enrolTotp, { body: { password: PASSWORD } });
      await expect(enrolled).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('GATEWAY_SECRETS_KEY'),
      });
    } finally {
      await keyless.stop();
    }
  });
});
