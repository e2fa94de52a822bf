import { AdminRefusalReason } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { createTestClock, eventually } from '@gateway/test-support';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';
import { ATTEMPT_WINDOW_MS, MAX_ATTEMPTS } from '@gateway/people';

const PASSWORD = 'correct horse battery';
const { ADMIN_REFUSAL_REASON_SIGN_IN_REFUSED: REFUSED, ADMIN_REFUSAL_REASON_TOO_MANY_ATTEMPTS: TOO_MANY } =
  AdminRefusalReason;

describe('members and sessions', () => {
  let fixture: AuthFixture;
  const clock = createTestClock();

  beforeAll(async () => {
    fixture = await createAuthFixture({
      clock,
      settings: { sessionLifetimeMs: 60_000, sessionIdleMs: 60_000 },
    });
    await fixture.member('ops@example.com', PASSWORD);
  });
  afterAll(() => fixture.stop());

  const attempt = (password: string, ipAddress = '192.0.2.1', email = 'ops@example.com') =>
    fixture.admin.signIn({ email, password, ipAddress, device: 'a browser' });

  async function signedIn(password = PASSWORD) {
    const { outcome } = await attempt(password);
    if (outcome?.$case !== 'signedIn') throw new Error(`refused: ${JSON.stringify(outcome)}`);
    return outcome.value;
  }

  it('creates a session whose token is stored only as a hash', async () => {
    const { sessionToken, member } = await signedIn();
    expect(member?.email).toBe('ops@example.com');
    const session = await fixture.admin.getSession({ sessionToken });
    expect(session).toMatchObject({ member, expiresUnixMs: BigInt(clock.now() + 60_000), hasPassword: true });
    const { rows } = await fixture.pool.query<{ dump: string }>(
      `select string_agg(s::text, ' ') as dump from sessions s`,
    );
    expect(rows[0]?.dump).not.toContain(sessionToken);
  });

  it('keeps the latest 1,000 sessions of a member', async () => {
    const { sessionToken: oldest, member } = await signedIn();
    await fixture.pool.query(
      `insert into sessions
         (token_sha256, id, member_id, device, ip_address, signed_in_by, created_at, last_seen_at, expires_at, confirmed_at)
       select sha256(number::text::bytea), 'ses-' || number, $1, '', '', 'password', $2, $2, '2100-01-01', $2
       from generate_series(1, 999) number`,
      [member?.id, new Date(clock.now() + 1)],
    );
    clock.advance(2);
    const { sessionToken } = await signedIn();
    expect((await fixture.admin.getSession({ sessionToken: oldest })).member).toBeUndefined();
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeDefined();
    const { rowCount } = await fixture.pool.query('select from sessions where member_id = $1', [member?.id]);
    expect(rowCount).toBe(1_000);
    await fixture.pool.query(`delete from sessions where id like 'ses-%' and member_id = $1`, [member?.id]);
  });

  it('ignores case and surrounding spaces of the email', async () => {
    const { outcome } = await attempt(PASSWORD, '192.0.2.1', ' OPS@Example.com ');
    expect(outcome?.$case).toBe('signedIn');
  });

  it('ends a session at its expiry, and immediately on sign-out', async () => {
    const { sessionToken } = await signedIn();
    const start = clock.now();
    clock.advance(60_000);
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeUndefined();
    clock.set(start);
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeDefined();
    await fixture.admin.signOut({ sessionToken });
    await fixture.admin.signOut({ sessionToken });
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeUndefined();
  });

  it("lists only a member's own active sessions, and ends one or all but one", async () => {
    const email = 'busy@example.com';
    const { member } = await fixture.member(email, PASSWORD);
    const memberId = member?.id ?? '';
    const actor = { id: memberId, label: email, ipAddress: '' };
    const open = async (device: string) => {
      const { outcome } = await fixture.admin.signIn({ email, password: PASSWORD, ipAddress: '::1', device });
      return outcome?.$case === 'signedIn' ? outcome.value.sessionToken : '';
    };
    const tokens = [await open('one\u0007'), await open('two'), await open('three')];
    const list = async () =>
      (await fixture.admin.listSessions({ memberId, pageSize: 0, pageToken: '' })).sessions;
    const sessions = await list();
    expect(sessions.map(({ device }) => device)).toEqual(['three', 'two', 'one']);

    const sessionId = sessions[0]?.id ?? '';
    const stranger = { ...actor, id: 'mem-other' };
    expect((await fixture.adminAs(stranger).endSession({ sessionId })).refusal).toBeDefined();
    expect((await fixture.adminAs(actor).endSession({ sessionId })).refusal).toBeUndefined();
    expect((await fixture.adminAs(actor).endSession({ sessionId })).refusal).toBeDefined();
    expect((await fixture.admin.getSession({ sessionToken: tokens[2] ?? '' })).member).toBeUndefined();

    const keptSessionId = sessions[2]?.id ?? '';
    expect(await fixture.adminAs(actor).endOtherSessions({ keptSessionId })).toEqual({ ended: 1 });
    expect((await list()).map(({ id }) => id)).toEqual([keptSessionId]);
    clock.advance(60_000);
    expect(await list()).toEqual([]);
  });

  it('records a sign-in as the time the member was last seen', async () => {
    const email = 'newcomer@example.com';
    await fixture.member(email, PASSWORD);
    const seen = async () => {
      const { data } = await fixture.endpoints.call(endpoints.people.list, { query: {} });
      return data.find((person) => person.email === email)?.last_seen_at;
    };
    expect(await seen()).toBeNull();
    expect((await attempt(PASSWORD, '192.0.2.9', email)).outcome?.$case).toBe('signedIn');
    expect(await seen()).toBe(new Date(clock.now()).toISOString());
  });

  it('responds identically to a wrong password and an unknown email', async () => {
    const wrong = await attempt('not the password', '192.0.2.2');
    const unknown = await attempt(PASSWORD, '192.0.2.2', 'unknown@example.com');
    const nonsense = await attempt('x'.repeat(100_000), '192.0.2.2', 'nul\u0000@example.com');
    expect(wrong.outcome).toEqual({ $case: 'refused', value: { reason: REFUSED, retryAfterMs: undefined } });
    expect(unknown).toEqual(wrong);
    expect(nonsense).toEqual(wrong);
  });

  it('refuses even the correct password after too many attempts, until the window ends', async () => {
    await Promise.all(Array.from({ length: MAX_ATTEMPTS.pair }, () => attempt('guess', '2001:db8::1')));
    const { outcome } = await attempt(PASSWORD, '2001:db8::2');
    expect(outcome).toEqual({
      $case: 'refused',
      value: { reason: TOO_MANY, retryAfterMs: ATTEMPT_WINDOW_MS },
    });
    expect((await attempt(PASSWORD, '198.51.100.1')).outcome?.$case).toBe('signedIn');
    clock.advance(ATTEMPT_WINDOW_MS);
    expect((await attempt(PASSWORD, '2001:db8::2')).outcome?.$case).toBe('signedIn');
  });

  it('does not lock out a member everywhere for guesses from one address', async () => {
    const guesses = MAX_ATTEMPTS.email + 5;
    for (let count = 0; count < guesses; count += 1) await attempt('guess', '203.0.113.7');
    expect((await attempt(PASSWORD, '203.0.113.7')).outcome?.$case).toBe('refused');
    expect((await attempt(PASSWORD, '198.51.100.7')).outcome?.$case).toBe('signedIn');
  });

  it('refuses every address once enough of them have guessed', async () => {
    clock.advance(ATTEMPT_WINDOW_MS);
    const addresses = Array.from(
      { length: MAX_ATTEMPTS.email / MAX_ATTEMPTS.pair },
      (_, n) => `203.0.113.${n}`,
    );
    for (const address of addresses) {
      await Promise.all(Array.from({ length: MAX_ATTEMPTS.pair }, () => attempt('guess', address)));
    }
    expect((await attempt(PASSWORD, '198.51.100.8')).outcome?.$case).toBe('refused');
    clock.advance(ATTEMPT_WINDOW_MS);
    expect((await attempt(PASSWORD, '198.51.100.8')).outcome?.$case).toBe('signedIn');
  });

  it('leaves an existing member unchanged unless a reset is requested, which ends all sessions', async () => {
    const { sessionToken } = await signedIn();
    const existing = await fixture.member('ops@example.com', 'another password');
    expect(existing.created).toBe(false);
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeDefined();

    await fixture.member('ops@example.com', 'another password', true);
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeUndefined();
    expect((await attempt(PASSWORD)).outcome?.$case).toBe('refused');
    await signedIn('another password');
  });

  it('returns a password version that changes with every reset and reveals nothing about the password', async () => {
    const email = 'versioned@example.com';
    const first = (await fixture.member(email, PASSWORD)).passwordVersion;
    expect((await fixture.member(email, 'not set')).passwordVersion).toBe(first);
    // It changes even if the same password is set again.
    const second = (await fixture.member(email, PASSWORD, true)).passwordVersion;
    expect(second).not.toBe(first);
    expect((await fixture.member(email, PASSWORD)).passwordVersion).toBe(second);
  });

  it('creates a member once, even if several processes start concurrently', async () => {
    const ensured = await Promise.all(
      Array.from({ length: 5 }, () => fixture.member('second@example.com', PASSWORD)),
    );
    expect(ensured.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(ensured.map(({ member }) => member?.id)).size).toBe(1);
  });

  it('refuses a password that is too short and an invalid email', async () => {
    await expect(fixture.member('new@example.com', 'short')).rejects.toMatchObject({ param: 'password' });
    await expect(fixture.member('no-email', PASSWORD)).rejects.toMatchObject({ param: 'email' });
  });
});

describe('idle sessions', () => {
  const MINUTE = 60_000;

  it('end after the idle time, and busy sessions at the end of their lifetime', async () => {
    const clock = createTestClock();
    const settings = { sessionLifetimeMs: 60 * MINUTE, sessionIdleMs: 10 * MINUTE };
    const fixture = await createAuthFixture({ clock, settings });
    const email = 'ops@example.com';
    await fixture.member(email, PASSWORD);
    const open = async () => {
      const signIn = { email, password: PASSWORD, ipAddress: '192.0.2.1', device: '' };
      const { outcome } = await fixture.admin.signIn(signIn);
      return outcome?.$case === 'signedIn' ? outcome.value.sessionToken : '';
    };
    const use = async (sessionToken: string, ipAddress = '192.0.2.1', background = false) => {
      const request = { sessionToken, permission: '', ipAddress, background };
      const { outcome } = await fixture.admin.authorize(request);
      return outcome?.$case === 'allowed' ? outcome.value : undefined;
    };
    const [idle, busy, polled] = [await open(), await open(), await open()];
    for (let minutes = 0; minutes < 55; minutes += 5) {
      clock.advance(5 * MINUTE);
      expect(await use(busy)).toBeDefined();
      // Polls read the session, but do not extend it.
      const background = await use(polled, '192.0.2.1', true);
      await fixture.admin.getSession({ sessionToken: polled });
      expect(background !== undefined).toBe(minutes < 5);
    }
    expect(await use(idle)).toBeUndefined();
    clock.advance(4 * MINUTE);
    const last = await use(busy, '198.51.100.1');
    expect(last).toMatchObject({ ipAddress: '198.51.100.1', lastSeenUnixMs: BigInt(clock.now()) });
    expect(last?.idleExpiresUnixMs).toBe(last?.expiresUnixMs);
    clock.advance(MINUTE);
    expect(await use(busy)).toBeUndefined();
    await fixture.stop();
  });
});

describe('expired sessions', () => {
  it('are deleted by the clock of the service, which need not be that of the database', async () => {
    const clock = createTestClock();
    const fixture = await createAuthFixture({ clock, settings: { sessionLifetimeMs: 60_000 } });
    const email = 'ops@example.com';
    await fixture.member(email, PASSWORD);
    const open = async () => {
      const signIn = { email, password: PASSWORD, ipAddress: '192.0.2.1', device: '' };
      const { outcome } = await fixture.admin.signIn(signIn);
      return outcome?.$case === 'signedIn' ? outcome.value.sessionToken : '';
    };
    const expiresAt = new Date(clock.now() + 60_000);
    await open();
    clock.advance(60_000);
    const later = await open();
    clock.advance(1);
    // Its maintenance runs when it starts.
    await fixture.startReplica();
    await eventually('the expired session to be deleted', async () => {
      const { rowCount } = await fixture.pool.query('select 1 from sessions where expires_at = $1', [
        expiresAt,
      ]);
      return rowCount === 0 || undefined;
    });
    expect((await fixture.admin.getSession({ sessionToken: later })).member).toBeDefined();
    await fixture.stop();
  });
});
