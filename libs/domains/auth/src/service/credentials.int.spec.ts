import { AdminRefusalReason, MemberRole, OrganizationRole, type Actor } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { TOTP } from 'otpauth';
import { codeOf, createAuthFixture, type AuthFixture } from '../testing/auth-under-test';

const PASSWORD = 'correct horse battery';
const OTHER_PASSWORD = 'staple and tomato';
const DASHBOARD = 'https://dashboard.example.com';
const MINUTE = 60_000;
const reasons = {
  invalid: AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID,
  forbidden: AdminRefusalReason.ADMIN_REFUSAL_REASON_FORBIDDEN,
  conflict: AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFLICT,
  link: AdminRefusalReason.ADMIN_REFUSAL_REASON_LINK_NOT_VALID,
  notSignedIn: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_SIGNED_IN,
  password: AdminRefusalReason.ADMIN_REFUSAL_REASON_SIGN_IN_REFUSED,
  codeRequired: AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REQUIRED,
  codeRefused: AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REFUSED,
  tooMany: AdminRefusalReason.ADMIN_REFUSAL_REASON_TOO_MANY_ATTEMPTS,
  notConfigured: AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_CONFIGURED,
};

const { people: ofPeople } = endpoints;

let fixture: AuthFixture;
const clock = createTestClock();
let people = 0;

beforeAll(async () => {
  fixture = await createAuthFixture({ clock });
});
afterAll(() => fixture.stop());

async function person(roles: Record<string, string> = {}): Promise<Actor> {
  const label = `person-${(people += 1)}@example.com`;
  const wanted = { email: label, password: PASSWORD, resetPassword: false };
  const { member } = await fixture.admin.ensureMember({ ...wanted, role: MemberRole.MEMBER_ROLE_MEMBER });
  for (const [organizationId, role] of Object.entries(roles)) {
    await fixture.pool.query('insert into memberships values ($1, $2, $3, now())', [
      organizationId,
      member?.id,
      role,
    ]);
  }
  return { id: member?.id ?? '', label, ipAddress: '192.0.2.1' };
}

const from = { ipAddress: '192.0.2.1', device: 'a browser' };

async function signIn(email: string, password = PASSWORD, code?: string) {
  const { outcome } = await fixture.admin.signIn({ email, password, ...from, code });
  if (outcome?.$case === 'signedIn') return outcome.value.sessionToken;
  return outcome?.value.reason ?? 0;
}

const token = async (email: string, password = PASSWORD) => String(await signIn(email, password));
const isSignedIn = async (sessionToken: string) =>
  (await fixture.admin.getSession({ sessionToken })).member !== undefined;
const reasonOf = ({ outcome }: { outcome?: { $case: string; value: unknown } | undefined }) =>
  outcome?.$case === 'refusal' ? (outcome.value as { reason: number }).reason : undefined;
const dump = async () => {
  const tables = ['members', 'sessions', 'invitations', 'password_resets', 'recovery_codes', 'audit_entries'];
  const texts = tables.map((name) => `(select coalesce(string_agg(t::text, ' '), '') from ${name} t)`);
  const { rows } = await fixture.pool.query<{ all: string }>(`select ${texts.join(' || ')} as all`);
  return rows[0]?.all ?? '';
};

describe('invitations', () => {
  let organizationId: string;
  let owner: Actor;
  const { ORGANIZATION_ROLE_ADMIN: ADMIN, ORGANIZATION_ROLE_OWNER: OWNER } = OrganizationRole;

  beforeEach(async () => {
    organizationId = (await fixture.organization('Acme')).id;
    owner = await person({ [organizationId]: 'owner' });
  });

  async function invite(email: string, role = ADMIN, actor = owner) {
    const wanted = { organizationId, email, role, dashboardUrl: DASHBOARD };
    const { outcome } = await fixture.adminAs(actor).createInvitation(wanted);
    if (outcome?.$case !== 'created') return { reason: outcome?.value.reason, token: '', id: '' };
    const { link, invitation } = outcome.value;
    expect(link.startsWith(`${DASHBOARD}/invitation#`)).toBe(true);
    return { reason: undefined, token: link.split('#')[1] ?? '', id: invitation?.id ?? '' };
  }

  const accept = (token: string, more: { password?: string; sessionToken?: string } = {}) =>
    fixture.admin.acceptInvitation({ token, ...from, ...more });
  const states = async () => {
    const of = { params: { organization_id: organizationId }, query: {} };
    return (await fixture.endpoints.call(ofPeople.invitations, of)).data.map(({ state }) => state);
  };

  it('add a new member to the organization once, with a password of their choice', async () => {
    const { token } = await invite(' New@Example.com ');
    const found = await fixture.admin.lookUpInvitation({ token, ipAddress: '::1' });
    expect(found.outcome).toMatchObject({
      value: {
        organizationName: 'Acme',
        hasAccount: false,
        invitation: { email: 'new@example.com', role: ADMIN },
      },
    });
    expect(reasonOf(await accept(token))).toBe(reasons.invalid);
    const both = await Promise.all([
      accept(token, { password: OTHER_PASSWORD }),
      accept(token, { password: OTHER_PASSWORD }),
    ]);
    expect(both.map(reasonOf).sort()).toEqual([reasons.link, undefined]);
    const opened = both.find((one) => reasonOf(one) === undefined)?.outcome?.value as {
      sessionToken: string;
    };
    const { memberships } = await fixture.admin.getSession({ sessionToken: opened.sessionToken });
    expect(memberships).toMatchObject([{ organizationId, role: ADMIN }]);
    expect(await states()).toEqual(['accepted']);
    expect(reasonOf(await accept(token, { password: OTHER_PASSWORD }))).toBe(reasons.link);
    expect(await dump()).not.toContain(token);
  });

  it('require the invited person to sign in when they have an account', async () => {
    const invited = await person();
    const stranger = await person();
    const { token } = await invite(invited.label);
    expect(reasonOf(await accept(token, { password: OTHER_PASSWORD }))).toBe(reasons.notSignedIn);
    const sessionToken = String(await signIn(stranger.label));
    expect(reasonOf(await accept(token, { sessionToken }))).toBe(reasons.notSignedIn);
    const own = String(await signIn(invited.label));
    expect(reasonOf(await accept(token, { sessionToken: own }))).toBeUndefined();
    expect((await invite(invited.label)).reason).toBe(reasons.conflict);
  });

  it('end when they expire, are revoked, or are replaced by a newer one for the same person', async () => {
    const first = await invite('late@example.com');
    const second = await invite('late@example.com');
    expect(reasonOf(await accept(first.token, { password: OTHER_PASSWORD }))).toBe(reasons.link);
    const params = { organization_id: organizationId, invitation_id: second.id };
    const revoke = () => fixture.endpointsAs(owner).call(ofPeople.revokeInvitation, { params, body: {} });
    expect(await codeOf(revoke())).toBeUndefined();
    expect(await codeOf(revoke())).toBe('conflict');
    expect(reasonOf(await accept(second.token, { password: OTHER_PASSWORD }))).toBe(reasons.link);
    const third = await invite('late@example.com');
    clock.advance(7 * 24 * 60 * MINUTE);
    expect(reasonOf(await accept(third.token, { password: OTHER_PASSWORD }))).toBe(reasons.link);
    expect(await states()).toEqual(['expired', 'revoked', 'revoked']);
  });

  it('with the role owner can only be created by owners', async () => {
    const admin = await person({ [organizationId]: 'admin' });
    expect((await invite('boss@example.com', OWNER, admin)).reason).toBe(reasons.forbidden);
    expect((await invite('boss@example.com', OWNER)).reason).toBeUndefined();
    const member = await person({ [organizationId]: 'member' });
    expect((await invite('boss@example.com', ADMIN, member)).reason).toBe(reasons.forbidden);
  });
});

describe('passwords', () => {
  const change = (sessionToken: string, currentPassword: string, newPassword: string) =>
    fixture.admin.changePassword({ sessionToken, currentPassword, newPassword, ...from });

  it('can be changed with the current one; all sessions but a new one end', async () => {
    const { label } = await person();
    const [here, elsewhere] = [await token(label), await token(label)];
    expect(reasonOf(await change(here, 'wrong password', OTHER_PASSWORD))).toBe(reasons.password);
    const changed = await change(here, PASSWORD, OTHER_PASSWORD);
    const opened = changed.outcome?.value as { sessionToken: string };
    expect([await isSignedIn(here), await isSignedIn(elsewhere)]).toEqual([false, false]);
    expect(await isSignedIn(opened.sessionToken)).toBe(true);
    expect(await signIn(label)).toBe(reasons.password);
    expect(await signIn(label, OTHER_PASSWORD)).toEqual(expect.any(String));
    expect(reasonOf(await change('no session', PASSWORD, OTHER_PASSWORD))).toBe(reasons.notSignedIn);
  });

  it.each(['short', 'aaaaaaaaaaaa', '1234567890', 'Password123!', 'person-x@example.com', 'x'.repeat(201)])(
    'must not be as weak or as long as %s',
    async (newPassword) => {
      const { label } = await person();
      const typed = newPassword.replace('person-x@example.com', label);
      const refused = await change(await token(label), PASSWORD, typed);
      expect(refused.outcome?.value).toMatchObject({ reason: reasons.invalid, field: 'new_password' });
    },
  );

  it('cannot be guessed from an unattended session', async () => {
    const { label } = await person();
    const sessionToken = await token(label);
    const seen = new Set<number | undefined>();
    for (let guess = 0; guess < 25; guess += 1) {
      seen.add(reasonOf(await change(sessionToken, `guess number ${guess}`, OTHER_PASSWORD)));
    }
    expect([...seen]).toEqual([reasons.password, reasons.tooMany]);
    expect(reasonOf(await change(sessionToken, PASSWORD, OTHER_PASSWORD))).toBe(reasons.tooMany);
  });

  describe('can be reset by a link', () => {
    async function link(memberId: string, actor: Partial<Actor> = {}) {
      const response = await fixture.adminAs(actor).makePasswordResetLink({
        memberId,
        dashboardUrl: DASHBOARD,
      });
      const { outcome } = response;
      return outcome?.$case === 'created' ? (outcome.value.link.split('#')[1] ?? '') : reasonOf(response);
    }
    const reset = async (token: unknown, password = OTHER_PASSWORD) =>
      (await fixture.admin.resetPassword({ token: String(token), password, ipAddress: '::1' })).refusal
        ?.reason;

    it('that is single-use, is valid for an hour, and ends all sessions and other links', async () => {
      const { id, label } = await person();
      const session = await token(label);
      const [first, second] = [await link(id), await link(id)];
      expect(await dump()).not.toContain(first);
      expect(await reset(first, 'short')).toBe(reasons.invalid);
      expect(await isSignedIn(session)).toBe(true);
      expect(await reset(first)).toBeUndefined();
      expect([await reset(first), await reset(second)]).toEqual([reasons.link, reasons.link]);
      expect(await isSignedIn(session)).toBe(false);
      expect(await signIn(label, OTHER_PASSWORD)).toEqual(expect.any(String));
      const third = await link(id);
      clock.advance(60 * MINUTE);
      expect(await reset(third)).toBe(reasons.link);
    });

    it('that points to the configured dashboard, whatever the caller says', async () => {
      const own = await createAuthFixture({ settings: { dashboardOrigin: 'https://own.example' } });
      const { outcome } = await own.admin.makePasswordResetLink({
        memberId: own.operator.id,
        dashboardUrl: 'https://attacker.example',
      });
      expect(outcome).toMatchObject({ value: { link: expect.stringMatching(/^https:\/\/own\.example\//) } });
      await own.stop();
    });

    it('that only operators can create', async () => {
      const { id } = await person();
      expect(await link(id, await person())).toBe(reasons.forbidden);
    });

    it('that cannot be requested unless email delivery is configured', async () => {
      const request = { email: 'ops@example.com', ipAddress: '::1', dashboardUrl: DASHBOARD };
      expect((await fixture.admin.requestPasswordReset(request)).refusal?.reason).toBe(reasons.notConfigured);
    });
  });
});

describe('a second factor', () => {
  const codeOf = (secret: string, offset = 0) =>
    new TOTP({ secret }).generate({ timestamp: clock.now() + offset * 30_000 });

  async function enrolled() {
    const { id, label } = await person();
    const sessionToken = await token(label);
    const { outcome } = await fixture.admin.enrolTotp({ sessionToken, password: PASSWORD, ipAddress: '::1' });
    if (outcome?.$case !== 'secret') throw new Error('refused');
    return { id, label, sessionToken, secret: outcome.value.base32, uri: outcome.value.otpauthUri };
  }

  async function withSecondFactor() {
    const person = await enrolled();
    const elsewhere = await token(person.label);
    const confirmation = { sessionToken: person.sessionToken, code: codeOf(person.secret), ...from };
    const { outcome } = await fixture.admin.confirmTotp(confirmation);
    if (outcome?.$case !== 'confirmed') throw new Error('refused');
    expect([await isSignedIn(elsewhere), await isSignedIn(person.sessionToken)]).toEqual([false, false]);
    clock.advance(MINUTE);
    const { recoveryCodes, signedIn } = outcome.value;
    return { ...person, recoveryCodes, sessionToken: signedIn?.sessionToken ?? '' };
  }

  it('is required at every sign-in once it is confirmed by a code, after the password', async () => {
    const { label, sessionToken, secret } = await enrolled();
    expect(await signIn(label)).toEqual(expect.any(String));
    const wrong = await fixture.admin.confirmTotp({ sessionToken, code: codeOf(secret, 10), ...from });
    expect(reasonOf(wrong)).toBe(reasons.codeRefused);

    const other = await withSecondFactor();
    expect(await signIn(other.label, 'not the password', codeOf(other.secret))).toBe(reasons.password);
    expect(await signIn(other.label)).toBe(reasons.codeRequired);
    expect(await signIn(other.label, PASSWORD, '000 000')).toBe(reasons.codeRefused);
    expect(await signIn(other.label, PASSWORD, ` ${codeOf(other.secret)} `)).toEqual(expect.any(String));
    const { secondFactor } = await fixture.admin.getSession({ sessionToken: other.sessionToken });
    expect(secondFactor).toBe(true);
  });

  it('accepts each code once, even concurrently, and none older than the last accepted one', async () => {
    const { label, secret } = await withSecondFactor();
    const code = codeOf(secret);
    const attempts = await Promise.all([1, 2, 3].map(() => signIn(label, PASSWORD, code)));
    expect(attempts.filter((one) => typeof one === 'string')).toHaveLength(1);
    expect(await signIn(label, PASSWORD, codeOf(secret, -1))).toBe(reasons.codeRefused);
    expect(await signIn(label, PASSWORD, codeOf(secret, 1))).toEqual(expect.any(String));
  });

  it('has ten single-use recovery codes, stored as hashes only', async () => {
    const { label, recoveryCodes, sessionToken, secret } = await withSecondFactor();
    expect(new Set(recoveryCodes).size).toBe(10);
    const all = await dump();
    for (const code of recoveryCodes) expect(all).not.toContain(code.replaceAll('-', ''));
    const [first = '', second = ''] = recoveryCodes;
    expect(await signIn(label, PASSWORD, first.toUpperCase())).toEqual(expect.any(String));
    expect(await signIn(label, PASSWORD, first)).toBe(reasons.codeRefused);

    const both = { sessionToken, password: PASSWORD, code: codeOf(secret), ipAddress: '::1' };
    const renewed = await fixture.admin.renewRecoveryCodes(both);
    expect(renewed.outcome?.$case).toBe('renewed');
    expect(await signIn(label, PASSWORD, second)).toBe(reasons.codeRefused);
  });

  it('is throttled even with the correct password', async () => {
    const { label } = await withSecondFactor();
    const results = new Set<unknown>();
    for (let attempt = 0; attempt < 25; attempt += 1) {
      const ipAddress = `203.0.113.${attempt}`;
      const guess = { email: label, password: PASSWORD, device: '', ipAddress, code: '123456' };
      const { outcome } = await fixture.admin.signIn(guess);
      results.add((outcome?.value as { reason: number }).reason);
    }
    expect([...results]).toEqual([reasons.codeRefused, reasons.tooMany]);
  });

  it('survives a password reset, and can be removed only with password and code', async () => {
    const { id, label, secret } = await withSecondFactor();
    const { outcome } = await fixture.admin.makePasswordResetLink({
      memberId: id,
      dashboardUrl: DASHBOARD,
    });
    const link = outcome?.$case === 'created' ? outcome.value.link : '';
    const reset = { token: link.split('#')[1] ?? '', password: OTHER_PASSWORD, ipAddress: '::1' };
    await fixture.admin.resetPassword(reset);
    expect(await signIn(label, OTHER_PASSWORD)).toBe(reasons.codeRequired);
    const sessionToken = String(await signIn(label, OTHER_PASSWORD, codeOf(secret)));
    const remove = (code: string, password = OTHER_PASSWORD) =>
      fixture.admin.removeTotp({ sessionToken, password, code, ipAddress: '::1' });
    expect((await remove(codeOf(secret, 1), PASSWORD)).refusal?.reason).toBe(reasons.password);
    expect((await remove('000000')).refusal?.reason).toBe(reasons.codeRefused);
    expect((await remove(codeOf(secret, 1))).refusal).toBeUndefined();
    expect(await signIn(label, OTHER_PASSWORD)).toEqual(expect.any(String));
  });

  it('cannot be replaced from an unattended session', async () => {
    const { sessionToken } = await withSecondFactor();
    const enrol = (password: string) =>
      fixture.admin.enrolTotp({ sessionToken, password, ipAddress: '::1' }).then(reasonOf);
    expect([await enrol('guess the word'), await enrol(PASSWORD)]).toEqual([
      reasons.password,
      reasons.conflict,
    ]);
  });
});
