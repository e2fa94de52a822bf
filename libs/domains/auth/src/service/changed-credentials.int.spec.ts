import { MemberRole } from '@gateway/contracts/auth';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { TOTP } from 'otpauth';
import type { PoolClient } from 'pg';
import { codeOf, createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const OLD = 'correct horse battery';
const NEW = 'staple and tomato';
const { account, people: ofPeople, session } = endpoints;

describe('a change of credentials that commits after they were checked', () => {
  let fixture: AuthFixture;
  let people = 0;
  /** What the member's password was changed to, as a hash. */
  let newHash: string;

  beforeAll(async () => {
    fixture = await createAuthFixture();
    await member('other@example.com', NEW);
    const { rows } = await fixture.pool.query<{ password_hash: string }>(
      `select password_hash from members where email = 'other@example.com'`,
    );
    newHash = rows[0]?.password_hash ?? '';
  });
  afterAll(() => fixture.stop());

  async function member(email = `person-${(people += 1)}@example.com`, password = OLD) {
    const role = MemberRole.MEMBER_ROLE_MEMBER;
    const { member } = await fixture.admin.ensureMember({ email, password, role, resetPassword: false });
    return { id: member?.id ?? '', email };
  }

  const signedIn = async (email: string, password = OLD) =>
    (await fixture.signIn(email, password)).session_token;
  /** Why a sign-in is refused. */
  const refusalOf = (email: string, password = OLD) => codeOf(fixture.signIn(email, password));

  /** A change of the password in a new session of the member; returns why it is refused. */
  async function changeOfPassword(email: string) {
    const client = await fixture.endpointsOf(await signedIn(email));
    const body = { current_password: OLD, new_password: 'yet another long one' };
    return () => codeOf(client.call(parts.changePassword, { body }));
  }

  /** The confirmation of a second factor in a new session of the member; returns why it is refused. */
  async function confirmationOfTotp(email: string) {
    const client = await fixture.endpointsOf(await signedIn(email));
    const { secret } = await client.call(account.enrolTotp, { body: { password: OLD } });
    const body = { code: new TOTP({ secret }).generate() };
    return () => codeOf(client.call(parts.confirmTotp, { body }));
  }

  /** Runs `attempt` while a transaction changes the member, and ends their sessions and reset links and commits once the attempt waits for it. */
  async function during<Result>(
    memberId: string,
    change: (client: PoolClient) => Promise<unknown>,
    attempt: () => Promise<Result>,
  ): Promise<Result> {
    const client = await fixture.pool.connect();
    try {
      await client.query('begin');
      await change(client);
      const result = attempt();
      const waiting = `select from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      while ((await fixture.pool.query(waiting)).rowCount === 0);
      await client.query('delete from password_resets where member_id = $1', [memberId]);
      await client.query('delete from sessions where member_id = $1', [memberId]);
      await client.query('commit');
      return await result;
    } finally {
      client.release();
    }
  }

  it.each<[string, string]>([
    ['the password', 'password_hash = $2'],
    ['the second factor', 'totp_secret = $2, totp_confirmed_at = now()'],
    ['the account, which was disabled', 'disabled_at = now(), password_hash = coalesce(password_hash, $2)'],
  ])('lets no sign-in with the earlier ones open a session: %s', async (_what, assignments) => {
    const { id, email } = await member();
    const refusal = await during(
      id,
      (client) => client.query(`update members set ${assignments} where id = $1`, [id, newHash]),
      () => refusalOf(email),
    );
    expect(refusal).toBe('sign_in_refused');
    const { rows } = await fixture.pool.query('select 1 from sessions where member_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it('is not undone by a change of the password that started before', async () => {
    const { id, email } = await member();
    const change = await changeOfPassword(email);
    const refusal = await during(
      id,
      (client) => client.query('update members set password_hash = $2 where id = $1', [id, newHash]),
      change,
    );
    expect(refusal).toBeDefined();
    expect(await refusalOf(email, NEW)).toBeUndefined();
  });

  it('lets no change of the password that started before open a session of a disabled account', async () => {
    const { id, email } = await member();
    const change = await changeOfPassword(email);
    const refusal = await during(
      id,
      (client) => client.query('update members set disabled_at = now() where id = $1', [id]),
      change,
    );
    expect(refusal).toBeDefined();
    const { rows } = await fixture.pool.query('select 1 from sessions where member_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it.each([
    ['the secret whose code was typed', 'totp_secret = $2'],
    ['the account, which was disabled', 'disabled_at = now(), password_hash = coalesce(password_hash, $2)'],
  ])('is not followed by the activation of a second factor: %s', async (_what, assignments) => {
    const { id, email } = await member();
    const confirm = await confirmationOfTotp(email);
    const refusal = await during(
      id,
      (client) => client.query(`update members set ${assignments} where id = $1`, [id, newHash]),
      confirm,
    );
    expect(refusal).toBeDefined();
    const { rows } = await fixture.pool.query(
      `select totp_confirmed_at, (select count(*) from sessions where member_id = $1)::int as sessions
       from members where id = $1`,
      [id],
    );
    expect(rows).toEqual([{ totp_confirmed_at: null, sessions: 0 }]);
  });

  /** As the end of all sessions of a member does. */
  const lockMember = (id: string) => (client: PoolClient) =>
    client.query('select 1 from members where id = $1 for no key update', [id]);

  it('lets no change of the password open a session after all sessions were ended', async () => {
    const { id, email } = await member();
    const change = await changeOfPassword(email);
    const refusal = await during(id, lockMember(id), change);
    expect(refusal).toBeDefined();
    expect(await refusalOf(email, OLD)).toBeUndefined();
  });

  it('lets no second factor open a session after all sessions were ended', async () => {
    const { id, email } = await member();
    const confirm = await confirmationOfTotp(email);
    const refusal = await during(id, lockMember(id), confirm);
    expect(refusal).toBeDefined();
    expect(await refusalOf(email)).toBeUndefined();
  });

  it('waits for a change of the member before it ends all their sessions', async () => {
    const { id, email } = await member();
    const sessionToken = await signedIn(email);
    const target = { params: { member_id: id }, body: {} };
    await during(id, lockMember(id), () => fixture.endpoints.call(ofPeople.endSessions, target));
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
  });

  it('is not undone by a reset link, with which it does not deadlock', async () => {
    const { id, email } = await member();
    const target = { params: { member_id: id }, body: {} };
    const { link } = await fixture.endpoints.call(ofPeople.createPasswordResetLink, target);
    const body = { token: link.split('#')[1] ?? '', password: 'yet another long one' };
    const refusal = await during(
      id,
      (client) => client.query('update members set password_hash = $2 where id = $1', [id, newHash]),
      () => codeOf(fixture.withoutPerson.call(session.resetPassword, { body })),
    );
    expect(refusal).toBeDefined();
    expect(await refusalOf(email, NEW)).toBeUndefined();
  });

  it('does not deadlock with a request that records the activity of an ended session', async () => {
    const { id, email } = await member();
    const sessionToken = await signedIn(email);
    await fixture.pool.query(
      `update sessions set last_seen_at = last_seen_at - interval '2 minutes' where member_id = $1`,
      [id],
    );
    await during(
      id,
      (client) => client.query('update members set password_hash = $2 where id = $1', [id, newHash]),
      () => fixture.accessOf(sessionToken, 'signed_in'),
    );
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
  });
});
