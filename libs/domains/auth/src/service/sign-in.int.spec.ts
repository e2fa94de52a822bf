import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock, eventually } from '@gateway/test-support';
import { codeOf, createAuthFixture, TEST_CLIENT, type AuthFixture } from '../testing/auth-under-test';
import { ATTEMPT_WINDOW_MS, MAX_ATTEMPTS } from '@gateway/people';

const PASSWORD = 'correct horse battery';
const REFUSED = {
  code: 'sign_in_refused',
  message: 'Incorrect email or password.',
  metadata: {},
  retryAfterMs: undefined,
};

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
    fixture.signIn(email, password, undefined, { ipAddress });

  async function signedIn(password = PASSWORD) {
    const { session_token: sessionToken, state } = await attempt(password);
    return { sessionToken, ...state };
  }

  it('creates a session whose token is stored only as a hash', async () => {
    const { sessionToken, ...state } = await signedIn();
    expect(state.member.email).toBe('ops@example.com');
    const client = await fixture.endpointsOf(sessionToken);
    const current = await client.call(endpoints.session.current);
    expect(current).toEqual(state);
    expect(current).toMatchObject({
      expires_at: new Date(clock.now() + 60_000).toISOString(),
      has_password: true,
    });
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
      [member.id, new Date(clock.now() + 1)],
    );
    clock.advance(2);
    const { sessionToken } = await signedIn();
    expect(await fixture.isSignedIn(oldest)).toBe(false);
    expect(await fixture.isSignedIn(sessionToken)).toBe(true);
    const { rowCount } = await fixture.pool.query('select from sessions where member_id = $1', [member.id]);
    expect(rowCount).toBe(1_000);
    await fixture.pool.query(`delete from sessions where id like 'ses-%' and member_id = $1`, [member.id]);
  });

  it('ignores case and surrounding spaces of the email', async () => {
    const { state } = await attempt(PASSWORD, '192.0.2.1', ' OPS@Example.com ');
    expect(state.member.email).toBe('ops@example.com');
  });

  it('ends a session at its expiry, and immediately on sign-out', async () => {
    const { sessionToken } = await signedIn();
    const start = clock.now();
    clock.advance(60_000);
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
    clock.set(start);
    expect(await fixture.isSignedIn(sessionToken)).toBe(true);
    const client = await fixture.endpointsOf(sessionToken);
    await client.call(endpoints.session.signOut, { body: {} });
    await client.call(endpoints.session.signOut, { body: {} });
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
  });

  it("lists only a member's own active sessions, and ends one or all but one", async () => {
    const email = 'busy@example.com';
    await fixture.member(email, PASSWORD);
    const { session } = endpoints;
    const open = async (device: string) =>
      (await fixture.signIn(email, PASSWORD, undefined, { device })).session_token;
    const tokens = [await open('one\u0007'), await open('two'), await open('three')];
    const own = await fixture.endpointsOf(tokens[0] ?? '');
    const list = async () => (await own.call(session.list, { query: {} })).data;
    const sessions = await list();
    expect(sessions.map(({ device, current }) => ({ device, current }))).toEqual([
      { device: 'three', current: false },
      { device: 'two', current: false },
      { device: 'one', current: true },
    ]);

    const target = { params: { session_id: sessions[0]?.id ?? '' }, body: {} };
    expect(await codeOf(fixture.endpoints.call(session.end, target))).toBe('not_found');
    expect(await codeOf(own.call(session.end, target))).toBeUndefined();
    expect(await codeOf(own.call(session.end, target))).toBe('not_found');
    expect(await fixture.isSignedIn(tokens[2] ?? '')).toBe(false);

    expect(await own.call(session.endOthers, { body: {} })).toEqual({ ended: 1 });
    expect((await list()).map(({ device }) => device)).toEqual(['one']);
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
    await attempt(PASSWORD, '192.0.2.9', email);
    expect(await seen()).toBe(new Date(clock.now()).toISOString());
  });

  it('responds identically to a wrong password and an unknown email', async () => {
    const refused: [password: string, email: string][] = [
      ['not the password', 'ops@example.com'],
      [PASSWORD, 'unknown@example.com'],
      ['x'.repeat(1_000), 'nul\u0000@example.com'],
    ];
    for (const [password, email] of refused) {
      await expect(attempt(password, '192.0.2.2', email)).rejects.toMatchObject(REFUSED);
    }
  });

  it('refuses even the correct password after too many attempts, until the window ends', async () => {
    await Promise.all(
      Array.from({ length: MAX_ATTEMPTS.pair }, () => codeOf(attempt('guess', '2001:db8::1'))),
    );
    await expect(attempt(PASSWORD, '2001:db8::2')).rejects.toMatchObject({
      code: 'too_many_attempts',
      retryAfterMs: ATTEMPT_WINDOW_MS,
    });
    expect(await codeOf(attempt(PASSWORD, '198.51.100.1'))).toBeUndefined();
    clock.advance(ATTEMPT_WINDOW_MS);
    expect(await codeOf(attempt(PASSWORD, '2001:db8::2'))).toBeUndefined();
  });

  it('does not lock out a member everywhere for guesses from one address', async () => {
    const guesses = MAX_ATTEMPTS.email + 5;
    for (let count = 0; count < guesses; count += 1) await codeOf(attempt('guess', '203.0.113.7'));
    expect(await codeOf(attempt(PASSWORD, '203.0.113.7'))).toBe('too_many_attempts');
    expect(await codeOf(attempt(PASSWORD, '198.51.100.7'))).toBeUndefined();
  });

  it('refuses every address once enough of them have guessed', async () => {
    clock.advance(ATTEMPT_WINDOW_MS);
    const addresses = Array.from(
      { length: MAX_ATTEMPTS.email / MAX_ATTEMPTS.pair },
      (_, n) => `203.0.113.${n}`,
    );
    for (const address of addresses) {
      await Promise.all(Array.from({ length: MAX_ATTEMPTS.pair }, () => codeOf(attempt('guess', address))));
    }
    expect(await codeOf(attempt(PASSWORD, '198.51.100.8'))).toBe('too_many_attempts');
    clock.advance(ATTEMPT_WINDOW_MS);
    expect(await codeOf(attempt(PASSWORD, '198.51.100.8'))).toBeUndefined();
  });

  it('leaves an existing member unchanged unless a reset is requested, which ends all sessions', async () => {
    const { sessionToken } = await signedIn();
    const existing = await fixture.member('ops@example.com', 'another password');
    expect(existing.created).toBe(false);
    expect(await fixture.isSignedIn(sessionToken)).toBe(true);

    await fixture.member('ops@example.com', 'another password', true);
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
    expect(await codeOf(attempt(PASSWORD))).toBe('sign_in_refused');
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
    const open = async () => (await fixture.signIn(email, PASSWORD)).session_token;
    const use = (sessionToken: string, ipAddress = '192.0.2.1', background = false) =>
      codeOf(
        fixture.withoutPerson.call(parts.authorize, {
          body: { session_token: sessionToken, access: 'signed_in', background, confirmed: false },
          client: { ...TEST_CLIENT, ipAddress },
        }),
      );
    const [idle, busy, polled] = [await open(), await open(), await open()];
    for (let minutes = 0; minutes < 55; minutes += 5) {
      clock.advance(5 * MINUTE);
      expect(await use(busy)).toBeUndefined();
      // Polls read the session, but do not extend it.
      const background = await use(polled, '192.0.2.1', true);
      expect(background).toBe(minutes < 5 ? undefined : 'not_signed_in');
    }
    expect(await use(idle)).toBe('not_signed_in');
    clock.advance(4 * MINUTE);
    expect(await use(busy, '198.51.100.1')).toBeUndefined();
    const client = await fixture.endpointsOf(busy);
    const { data } = await client.call(endpoints.session.list, { query: {} });
    expect(data).toMatchObject([
      { ip_address: '198.51.100.1', last_seen_at: new Date(clock.now()).toISOString(), current: true },
    ]);
    const state = await client.call(endpoints.session.current);
    expect(state.idle_expires_at).toBe(state.expires_at);
    clock.advance(MINUTE);
    expect(await use(busy)).toBe('not_signed_in');
    await fixture.stop();
  });
});

describe('expired sessions', () => {
  it('are deleted by the clock of the service, which need not be that of the database', async () => {
    const clock = createTestClock();
    const fixture = await createAuthFixture({ clock, settings: { sessionLifetimeMs: 60_000 } });
    const email = 'ops@example.com';
    await fixture.member(email, PASSWORD);
    const open = async () => (await fixture.signIn(email, PASSWORD)).session_token;
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
    expect(await fixture.isSignedIn(later)).toBe(true);
    await fixture.stop();
  });
});
