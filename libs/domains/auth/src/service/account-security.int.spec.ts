import type { AdminClient } from '@gateway/admin-calls';
import { MemberRole } from '@gateway/contracts/auth';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { TOTP } from 'otpauth';
import { codeOf, createAuthFixture, TEST_CLIENT, type AuthFixture } from '../testing/auth-under-test';

const PASSWORD = 'correct horse battery';
const MINUTE = 60_000;
const CONFIRM = 'confirmation_required';
const WRONG = 'sign_in_refused';
const CONFLICT = 'conflict';
const { account, people: ofPeople, session } = endpoints;

describe('the security of accounts', () => {
  const clock = createTestClock();
  let fixture: AuthFixture;
  beforeAll(async () => {
    fixture = await createAuthFixture({ clock, settings: { operatorsNeedSecondFactor: true } });
  });
  afterAll(() => fixture.stop());

  let people = 0;
  async function person(role = MemberRole.MEMBER_ROLE_MEMBER) {
    const email = `person-${(people += 1)}@example.com`;
    const wanted = { email, password: PASSWORD, role, resetPassword: false };
    const { member } = await fixture.admin.ensureMember(wanted);
    return { id: member?.id ?? '', email };
  }

  const attempt = (email: string, password = PASSWORD, code?: string) =>
    codeOf(fixture.signIn(email, password, code));
  const signIn = async (email: string, code?: string) =>
    (await fixture.signIn(email, PASSWORD, code)).session_token;

  /** Turns on the second factor; returns codes of further periods. */
  async function withSecondFactor(sessionToken: string) {
    const client = await fixture.endpointsOf(sessionToken);
    const { secret } = await client.call(account.enrolTotp, { body: { password: PASSWORD } });
    const totp = new TOTP({ secret });
    const nextCode = () => {
      clock.advance(30_000);
      return totp.generate({ timestamp: clock.now() });
    };
    const confirmed = await client.call(parts.confirmTotp, { body: { code: nextCode() } });
    return { nextCode, sessionToken: confirmed.session_token };
  }

  const setOperator = (client: AdminClient, memberId: string) =>
    codeOf(client.call(ofPeople.setOperator, { params: { member_id: memberId }, body: { operator: true } }));
  const setDisabled = (client: AdminClient, memberId: string, disabled: boolean) =>
    codeOf(client.call(ofPeople.setDisabled, { params: { member_id: memberId }, body: { disabled } }));
  const resetSecondFactor = (client: AdminClient, memberId: string) =>
    codeOf(client.call(ofPeople.resetSecondFactor, { params: { member_id: memberId }, body: {} }));
  const requireSecondFactor = (client: AdminClient, organizationId: string) =>
    client.call(endpoints.organizations.setSecondFactorRequired, {
      params: { organization_id: organizationId },
      body: { required: true },
    });
  const endSessions = (memberId: string) =>
    codeOf(fixture.endpoints.call(ofPeople.endSessions, { params: { member_id: memberId }, body: {} }));
  const auditOf = async (target: string, action: string) =>
    (await fixture.auditLog.listAudit({ target, action, pageSize: 0, pageToken: '' })).entries;

  describe('a sensitive change', () => {
    /** An operator who signed in six minutes ago. */
    async function operatorAtLunch() {
      const operator = await person(MemberRole.MEMBER_ROLE_OPERATOR);
      const client = await fixture.endpointsOf(await signIn(operator.email));
      clock.advance(6 * MINUTE);
      return client;
    }

    const changes: Record<
      string,
      (client: AdminClient, memberId: string, organizationId: string) => Promise<string | undefined>
    > = {
      setOperator: (client, memberId) => setOperator(client, memberId),
      createPasswordResetLink: (client, memberId) =>
        codeOf(client.call(ofPeople.createPasswordResetLink, { params: { member_id: memberId }, body: {} })),
      setDisabled: (client, memberId) => setDisabled(client, memberId, true),
      resetSecondFactor: (client, memberId) => resetSecondFactor(client, memberId),
      unlinkIdentity: (client, memberId) => {
        const identity = { params: { member_id: memberId }, body: { issuer: 'https://idp.example.com' } };
        return codeOf(client.call(ofPeople.unlinkPersonIdentity, identity));
      },
      mapDomain: (client, _memberId, organizationId) => {
        const params = { organization_id: organizationId, domain: `d${people}.example.org` };
        return codeOf(client.call(ofPeople.mapDomain, { params, body: { role: 'member' } }));
      },
      setSecondFactorRequired: (client, _memberId, organizationId) =>
        codeOf(requireSecondFactor(client, organizationId)),
    };

    it.each(Object.keys(changes))('needs a recent password: %s', async (name) => {
      const change = changes[name] as (typeof changes)[string];
      const { id: organizationId } = await fixture.organization('Sensitive');
      const { id: memberId } = await person();
      const client = await operatorAtLunch();
      expect(await change(client, memberId, organizationId)).toBe(CONFIRM);
      const wrong = client.call(session.confirm, { body: { password: 'wrong' } });
      expect(await codeOf(wrong)).toBe(WRONG);
      expect(await change(client, memberId, organizationId)).toBe(CONFIRM);
      await client.call(session.confirm, { body: { password: PASSWORD } });
      expect(await change(client, memberId, organizationId)).not.toBe(CONFIRM);
      clock.advance(6 * MINUTE);
      expect(await change(client, memberId, organizationId)).toBe(CONFIRM);
    });

    it('accepts a code of the second factor instead, and another session confirms nothing', async () => {
      const operator = await person(MemberRole.MEMBER_ROLE_OPERATOR);
      const { nextCode, sessionToken } = await withSecondFactor(await signIn(operator.email));
      const client = await fixture.endpointsOf(sessionToken);
      clock.advance(6 * MINUTE);
      const { id: memberId } = await person();
      await signIn(operator.email, nextCode());
      expect(await setOperator(client, memberId)).toBe(CONFIRM);
      const confirmed = client.call(session.confirm, { body: { code: nextCode() } });
      expect(await codeOf(confirmed)).toBeUndefined();
      expect(await setOperator(client, memberId)).toBeUndefined();
    });
  });

  describe('operators', () => {
    it('reset a lost second factor, which ends the sessions and is audited', async () => {
      const { id: memberId, email } = await person();
      const { sessionToken } = await withSecondFactor(await signIn(email));
      expect(await resetSecondFactor(fixture.endpoints, memberId)).toBeUndefined();
      expect(await fixture.isSignedIn(sessionToken)).toBe(false);
      await signIn(email);
      expect(await auditOf(memberId, 'member.reset_second_factor')).toMatchObject([
        { actor: { id: fixture.operator.id, operator: true } },
      ]);
      expect(await resetSecondFactor(fixture.endpoints, memberId)).toBe(CONFLICT);
    });

    it('disable an account: its sessions end and it cannot sign in, until it is enabled', async () => {
      const { id: memberId, email } = await person();
      const sessionToken = await signIn(email);
      await setDisabled(fixture.endpoints, memberId, true);
      expect(await fixture.isSignedIn(sessionToken)).toBe(false);
      expect(await attempt(email)).toBe('account_disabled');
      // A wrong password does not reveal it.
      expect(await attempt(email, 'wrong password')).toBe(WRONG);
      await setDisabled(fixture.endpoints, memberId, false);
      await signIn(email);
      const actions = (await auditOf(memberId, 'member.')).map(({ action }) => action);
      expect(actions.slice(0, 2)).toEqual(['member.enable', 'member.disable']);
    });

    it('end all sessions of another person, and manage no account of their own', async () => {
      const { id: memberId, email } = await person();
      const tokens = [await signIn(email), await signIn(email)];
      await endSessions(memberId);
      for (const sessionToken of tokens) {
        expect(await fixture.isSignedIn(sessionToken)).toBe(false);
      }
      expect(await auditOf(memberId, 'member.end_sessions')).toMatchObject([
        { detailsJson: JSON.stringify({ email, ended: 2 }) },
      ]);
      const self = fixture.operator.id;
      expect(await setDisabled(fixture.endpoints, self, true)).toBe(CONFLICT);
      expect(await endSessions(self)).toBe(CONFLICT);
    });
  });

  describe('the audit log', () => {
    const refusals = async (target: string) =>
      (await auditOf(target, 'session.refuse')).map(({ detailsJson, actor }) => ({
        ...(JSON.parse(detailsJson) as { reason: string }),
        ipAddress: actor?.ipAddress,
      }));

    it('has each refused sign-in with person, reason and address', async () => {
      const { id, email } = await person();
      await attempt(email, 'wrong password');
      await withSecondFactor(await signIn(email));
      await attempt(email, PASSWORD, '000000');
      expect(await refusals(id)).toEqual([
        { reason: 'wrong_code', ipAddress: TEST_CLIENT.ipAddress },
        { reason: 'wrong_password', ipAddress: TEST_CLIENT.ipAddress },
      ]);
    });

    it('never has the text of an unknown email, which may be a password', async () => {
      await attempt('my-secret-password', 'wrong password');
      const { rows } = await fixture.pool.query('select * from audit_entries');
      expect(JSON.stringify(rows)).not.toContain('my-secret-password');
      expect((await refusals('unknown')).at(0)).toMatchObject({ reason: 'wrong_password' });
    });

    it('has one entry for all attempts beyond the limit of a window', async () => {
      clock.advance(16 * MINUTE);
      const { email } = await person();
      const before = (await refusals('unknown')).length;
      for (let count = 0; count < 30; count += 1) await attempt(email, 'wrong password');
      const { rows } = await fixture.pool.query<{ count: bigint }>(
        `select count(*) from audit_entries where action = 'session.refuse' and details->>'reason' = 'too_many_attempts'`,
      );
      expect(rows[0]?.count).toBe(1n);
      expect((await refusals('unknown')).length).toBe(before + 1);
    });
  });

  describe('a required second factor', () => {
    it('leaves people of the organization their own account only, until they set one up', async () => {
      const { id: organizationId } = await fixture.organization('Careful');
      const { id, email } = await person();
      await fixture.pool.query(`insert into memberships values ($1, $2, 'member', now())`, [
        organizationId,
        id,
      ]);
      const sessionToken = await signIn(email);
      expect(await fixture.accessOf(sessionToken, 'keys:read', organizationId)).toBe('allowed');
      await requireSecondFactor(fixture.endpoints, organizationId);
      expect(await fixture.accessOf(sessionToken, 'keys:read', organizationId)).toBe(
        'second_factor_setup_required',
      );
      expect(await fixture.accessOf(sessionToken, 'signed_in')).toBe('allowed');
      const client = await fixture.endpointsOf(sessionToken);
      expect(await client.call(session.current)).toMatchObject({ second_factor_setup_required: true });
      const after = await withSecondFactor(sessionToken);
      expect(await fixture.accessOf(after.sessionToken, 'keys:read', organizationId)).toBe('allowed');
    });

    it('applies to operators where the setting says so', async () => {
      const { email } = await person(MemberRole.MEMBER_ROLE_OPERATOR);
      const sessionToken = await signIn(email);
      expect(await fixture.accessOf(sessionToken, 'platform:people')).toBe('second_factor_setup_required');
      const after = await withSecondFactor(sessionToken);
      expect(await fixture.accessOf(after.sessionToken, 'platform:people')).toBe('allowed');
    });

    it('does not apply after single sign-on, where the provider is responsible', async () => {
      const { email } = await person(MemberRole.MEMBER_ROLE_OPERATOR);
      const sessionToken = await signIn(email);
      const { session_id: sessionId } = await fixture.personOfSession(sessionToken);
      await fixture.pool.query(`update sessions set signed_in_by = 'oidc' where id = $1`, [sessionId]);
      expect(await fixture.accessOf(sessionToken, 'platform:people')).toBe('allowed');
    });
  });
});
