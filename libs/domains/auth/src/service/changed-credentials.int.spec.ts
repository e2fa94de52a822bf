import { MemberRole } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { TOTP } from 'otpauth';
import type { PoolClient } from 'pg';
import { createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const OLD = 'correct horse battery';
const NEW = 'staple and tomato';
const FROM = { ipAddress: '192.0.2.7', device: '' };

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

  const signIn = (email: string, password = OLD) => fixture.admin.signIn({ email, password, ...FROM });

  async function signedIn(email: string) {
    const { outcome } = await signIn(email);
    if (outcome?.$case !== 'signedIn') throw new Error('the sign-in was refused');
    return outcome.value.sessionToken;
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
    const { outcome } = await during(
      id,
      (client) => client.query(`update members set ${assignments} where id = $1`, [id, newHash]),
      () => signIn(email),
    );
    expect(outcome?.$case).toBe('refused');
    const { rows } = await fixture.pool.query('select 1 from sessions where member_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it('is not undone by a change of the password that started before', async () => {
    const { id, email } = await member();
    const change = {
      ...{ sessionToken: await signedIn(email), ...FROM },
      ...{ currentPassword: OLD, newPassword: 'yet another long one' },
    };
    const { outcome } = await during(
      id,
      (client) => client.query('update members set password_hash = $2 where id = $1', [id, newHash]),
      () => fixture.admin.changePassword(change),
    );
    expect(outcome?.$case).toBe('refusal');
    expect((await signIn(email, NEW)).outcome?.$case).toBe('signedIn');
  });

  it('lets no change of the password that started before open a session of a disabled account', async () => {
    const { id, email } = await member();
    const change = {
      ...{ sessionToken: await signedIn(email), ...FROM },
      ...{ currentPassword: OLD, newPassword: 'yet another long one' },
    };
    const { outcome } = await during(
      id,
      (client) => client.query('update members set disabled_at = now() where id = $1', [id]),
      () => fixture.admin.changePassword(change),
    );
    expect(outcome?.$case).toBe('refusal');
    const { rows } = await fixture.pool.query('select 1 from sessions where member_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  it.each([
    ['the secret whose code was typed', 'totp_secret = $2'],
    ['the account, which was disabled', 'disabled_at = now(), password_hash = coalesce(password_hash, $2)'],
  ])('is not followed by the activation of a second factor: %s', async (_what, assignments) => {
    const { id, email } = await member();
    const sessionToken = await signedIn(email);
    const enrolled = await fixture.admin.enrolTotp({ sessionToken, password: OLD, ipAddress: '' });
    if (enrolled.outcome?.$case !== 'secret') throw new Error('the enrolment was refused');
    const code = new TOTP({ secret: enrolled.outcome.value.base32 }).generate();
    const { outcome } = await during(
      id,
      (client) => client.query(`update members set ${assignments} where id = $1`, [id, newHash]),
      () => fixture.admin.confirmTotp({ sessionToken, code, ...FROM }),
    );
    expect(outcome?.$case).toBe('refusal');
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
    const change = {
      ...{ sessionToken: await signedIn(email), ...FROM },
      ...{ currentPassword: OLD, newPassword: 'yet another long one' },
    };
    const { outcome } = await during(id, lockMember(id), () => fixture.admin.changePassword(change));
    expect(outcome?.$case).toBe('refusal');
    expect((await signIn(email, OLD)).outcome?.$case).toBe('signedIn');
  });

  it('lets no second factor open a session after all sessions were ended', async () => {
    const { id, email } = await member();
    const sessionToken = await signedIn(email);
    const enrolled = await fixture.admin.enrolTotp({ sessionToken, password: OLD, ipAddress: '' });
    if (enrolled.outcome?.$case !== 'secret') throw new Error('the enrolment was refused');
    const code = new TOTP({ secret: enrolled.outcome.value.base32 }).generate();
    const confirm = () => fixture.admin.confirmTotp({ sessionToken, code, ...FROM });
    const { outcome } = await during(id, lockMember(id), confirm);
    expect(outcome?.$case).toBe('refusal');
    expect((await signIn(email)).outcome?.$case).toBe('signedIn');
  });

  it('waits for a change of the member before it ends all their sessions', async () => {
    const { id, email } = await member();
    const sessionToken = await signedIn(email);
    const target = { params: { member_id: id }, body: {} };
    await during(id, lockMember(id), () => fixture.endpoints.call(endpoints.people.endSessions, target));
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeUndefined();
  });

  it('is not undone by a reset link, with which it does not deadlock', async () => {
    const { id, email } = await member();
    const made = await fixture.admin.makePasswordResetLink({
      memberId: id,
      dashboardUrl: 'https://d.example',
    });
    const link = made.outcome?.$case === 'created' ? made.outcome.value.link : '';
    const reset = { token: link.split('#')[1] ?? '', password: 'yet another long one', ipAddress: '' };
    const { refusal } = await during(
      id,
      (client) => client.query('update members set password_hash = $2 where id = $1', [id, newHash]),
      () => fixture.admin.resetPassword(reset),
    );
    expect(refusal).toBeDefined();
    expect((await signIn(email, NEW)).outcome?.$case).toBe('signedIn');
  });

  it('does not deadlock with a request that records the activity of an ended session', async () => {
    const { id, email } = await member();
    const sessionToken = await signedIn(email);
    await fixture.pool.query(
      `update sessions set last_seen_at = last_seen_at - interval '2 minutes' where member_id = $1`,
      [id],
    );
    const request = { sessionToken, permission: '', organizationId: undefined, background: false };
    await during(
      id,
      (client) => client.query('update members set password_hash = $2 where id = $1', [id, newHash]),
      () => fixture.admin.authorize({ ...request, ipAddress: '192.0.2.7' }),
    );
    expect((await fixture.admin.getSession({ sessionToken })).member).toBeUndefined();
  });
});
