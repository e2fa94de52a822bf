import type { AdminClient } from '@gateway/admin-calls';
import { MemberRole, type Actor } from '@gateway/contracts/auth';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { TOTP } from 'otpauth';
import {
  codeOf,
  createAuthFixture,
  TEST_CLIENT as client,
  type AuthFixture,
} from '../testing/auth-under-test';

const PASSWORD = 'correct horse battery';
const OTHER_PASSWORD = 'staple and tomato';
const MINUTE = 60_000;

const { account, people: ofPeople, session } = endpoints;

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

const signIn = async (email: string, password = PASSWORD, code?: string) =>
  (await fixture.signIn(email, password, code)).session_token;
/** Why a sign-in is refused. */
const refusalOf = (email: string, password?: string, code?: string) => codeOf(signIn(email, password, code));
const isSignedIn = (sessionToken: string) => fixture.isSignedIn(sessionToken);
const dump = async () => {
  const tables = ['members', 'sessions', 'invitations', 'password_resets', 'recovery_codes', 'audit_entries'];
  const texts = tables.map((name) => `(select coalesce(string_agg(t::text, ' '), '') from ${name} t)`);
  const { rows } = await fixture.pool.query<{ all: string }>(`select ${texts.join(' || ')} as all`);
  return rows[0]?.all ?? '';
};

describe('invitations', () => {
  let organizationId: string;
  let owner: Actor;

  beforeEach(async () => {
    organizationId = (await fixture.organization('Acme')).id;
    owner = await person({ [organizationId]: 'owner' });
  });

  const requestInvitation = (email: string, role: 'admin' | 'owner' = 'admin', actor = owner) =>
    fixture.endpointsAs(actor).call(ofPeople.invite, {
      params: { organization_id: organizationId },
      body: { email, role },
      client,
    });
  async function invite(email: string) {
    const { link, invitation } = await requestInvitation(email);
    expect(link.startsWith(`${client.dashboardUrl}/invitation#`)).toBe(true);
    return { token: link.split('#')[1] ?? '', id: invitation.id };
  }

  const accept = (token: string, more: { password?: string; session_token?: string } = {}) =>
    fixture.withoutPerson.call(parts.acceptInvitation, { body: { token, ...more }, client });
  const states = async () => {
    const of = { params: { organization_id: organizationId }, query: {} };
    return (await fixture.endpoints.call(ofPeople.invitations, of)).data.map(({ state }) => state);
  };

  it('add a new member to the organization once, with a password of their choice', async () => {
    const { token } = await invite(' New@Example.com ');
    const found = await fixture.withoutPerson.call(session.invitation, { body: { token }, client });
    expect(found).toMatchObject({
      organization: { name: 'Acme' },
      has_account: false,
      email: 'new@example.com',
      role: 'admin',
    });
    expect(await codeOf(accept(token))).toBe('invalid');
    const both = await Promise.allSettled([
      accept(token, { password: OTHER_PASSWORD }),
      accept(token, { password: OTHER_PASSWORD }),
    ]);
    const opened = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(opened.map(({ state }) => state.memberships)).toMatchObject([
      [{ organization: { id: organizationId }, role: 'admin' }],
    ]);
    expect(await states()).toEqual(['accepted']);
    expect(await codeOf(accept(token, { password: OTHER_PASSWORD }))).toBe('link_not_valid');
    expect(await dump()).not.toContain(token);
  });

  it('require the invited person to sign in when they have an account', async () => {
    const invited = await person();
    const stranger = await person();
    const { token } = await invite(invited.label);
    expect(await codeOf(accept(token, { password: OTHER_PASSWORD }))).toBe('not_signed_in');
    const other = await signIn(stranger.label);
    expect(await codeOf(accept(token, { session_token: other }))).toBe('not_signed_in');
    const own = await signIn(invited.label);
    expect(await codeOf(accept(token, { session_token: own }))).toBeUndefined();
    expect(await codeOf(requestInvitation(invited.label))).toBe('conflict');
  });

  it('end when they expire, are revoked, or are replaced by a newer one for the same person', async () => {
    const first = await invite('late@example.com');
    const second = await invite('late@example.com');
    expect(await codeOf(accept(first.token, { password: OTHER_PASSWORD }))).toBe('link_not_valid');
    const params = { organization_id: organizationId, invitation_id: second.id };
    const revoke = () => fixture.endpointsAs(owner).call(ofPeople.revokeInvitation, { params, body: {} });
    expect(await codeOf(revoke())).toBeUndefined();
    expect(await codeOf(revoke())).toBe('conflict');
    expect(await codeOf(accept(second.token, { password: OTHER_PASSWORD }))).toBe('link_not_valid');
    const third = await invite('late@example.com');
    clock.advance(7 * 24 * 60 * MINUTE);
    expect(await codeOf(accept(third.token, { password: OTHER_PASSWORD }))).toBe('link_not_valid');
    expect(await states()).toEqual(['expired', 'revoked', 'revoked']);
  });

  it('with the role owner can only be created by owners', async () => {
    const admin = await person({ [organizationId]: 'admin' });
    expect(await codeOf(requestInvitation('boss@example.com', 'owner', admin))).toBe('forbidden');
    expect(await codeOf(requestInvitation('boss@example.com', 'owner'))).toBeUndefined();
    const member = await person({ [organizationId]: 'member' });
    expect(await codeOf(requestInvitation('boss@example.com', 'admin', member))).toBe('forbidden');
  });
});

const createLink = (memberId: string, by: AdminClient = fixture.endpoints) =>
  by.call(ofPeople.createPasswordResetLink, { params: { member_id: memberId }, body: {}, client });
/** The token of a new link. */
const link = async (memberId: string) => (await createLink(memberId)).link.split('#')[1] ?? '';

describe('passwords', () => {
  const changeIn = (own: AdminClient, current_password: string, new_password: string) =>
    own.call(parts.changePassword, { body: { current_password, new_password }, client });
  const change = async (sessionToken: string, current: string, wanted: string) =>
    changeIn(await fixture.endpointsOf(sessionToken), current, wanted);

  it('can be changed with the current one; all sessions but a new one end', async () => {
    const { label } = await person();
    const [here, elsewhere] = [await signIn(label), await signIn(label)];
    const ended = await fixture.endpointsOf(elsewhere);
    expect(await codeOf(change(here, 'wrong password', OTHER_PASSWORD))).toBe('sign_in_refused');
    const opened = await change(here, PASSWORD, OTHER_PASSWORD);
    expect([await isSignedIn(here), await isSignedIn(elsewhere)]).toEqual([false, false]);
    expect(await isSignedIn(opened.session_token)).toBe(true);
    expect(await refusalOf(label)).toBe('sign_in_refused');
    expect(await refusalOf(label, OTHER_PASSWORD)).toBeUndefined();
    expect(await codeOf(changeIn(ended, OTHER_PASSWORD, PASSWORD))).toBe('not_signed_in');
  });

  it.each(['short', 'aaaaaaaaaaaa', '1234567890', 'Password123!', 'person-x@example.com', 'x'.repeat(201)])(
    'must not be as weak or as long as %s',
    async (newPassword) => {
      const { label } = await person();
      const typed = newPassword.replace('person-x@example.com', label);
      const refused = change(await signIn(label), PASSWORD, typed);
      await expect(refused).rejects.toMatchObject({ code: 'invalid', param: 'new_password' });
    },
  );

  it('cannot be guessed from an unattended session', async () => {
    const { label } = await person();
    const sessionToken = await signIn(label);
    const seen = new Set<string | undefined>();
    for (let guess = 0; guess < 25; guess += 1) {
      seen.add(await codeOf(change(sessionToken, `guess number ${guess}`, OTHER_PASSWORD)));
    }
    expect([...seen]).toEqual(['sign_in_refused', 'too_many_attempts']);
    expect(await codeOf(change(sessionToken, PASSWORD, OTHER_PASSWORD))).toBe('too_many_attempts');
  });

  describe('can be reset by a link', () => {
    const reset = (token: string, password = OTHER_PASSWORD) =>
      codeOf(fixture.withoutPerson.call(session.resetPassword, { body: { token, password }, client }));

    it('that is single-use, is valid for an hour, and ends all sessions and other links', async () => {
      const { id, label } = await person();
      const sessionToken = await signIn(label);
      const [first, second] = [await link(id), await link(id)];
      expect(await dump()).not.toContain(first);
      expect(await reset(first, 'short')).toBe('invalid');
      expect(await isSignedIn(sessionToken)).toBe(true);
      expect(await reset(first)).toBeUndefined();
      expect([await reset(first), await reset(second)]).toEqual(['link_not_valid', 'link_not_valid']);
      expect(await isSignedIn(sessionToken)).toBe(false);
      expect(await refusalOf(label, OTHER_PASSWORD)).toBeUndefined();
      const third = await link(id);
      clock.advance(60 * MINUTE);
      expect(await reset(third)).toBe('link_not_valid');
    });

    it('that points to the configured dashboard, whatever the caller says', async () => {
      const own = await createAuthFixture({ settings: { dashboardOrigin: 'https://own.example' } });
      const made = await createLink(own.operator.id, own.endpoints);
      expect(made.link).toMatch(/^https:\/\/own\.example\//);
      await own.stop();
    });

    it('that only operators can create', async () => {
      const { id } = await person();
      const stranger = fixture.endpointsAs(await person());
      expect(await codeOf(createLink(id, stranger))).toBe('forbidden');
    });

    it('that cannot be requested unless email delivery is configured', async () => {
      const request = { body: { email: 'ops@example.com' }, client };
      const requested = fixture.withoutPerson.call(session.requestPasswordReset, request);
      expect(await codeOf(requested)).toBe('conflict');
    });
  });
});

describe('a second factor', () => {
  const totpCode = (secret: string, offset = 0) =>
    new TOTP({ secret }).generate({ timestamp: clock.now() + offset * 30_000 });

  async function enrolled() {
    const { id, label } = await person();
    const sessionToken = await signIn(label);
    const own = await fixture.endpointsOf(sessionToken);
    const { secret } = await own.call(account.enrolTotp, { body: { password: PASSWORD } });
    return { id, label, sessionToken, own, secret };
  }

  const confirm = (own: AdminClient, code: string) => own.call(parts.confirmTotp, { body: { code }, client });

  async function withSecondFactor() {
    const person = await enrolled();
    const elsewhere = await signIn(person.label);
    const confirmed = await confirm(person.own, totpCode(person.secret));
    expect([await isSignedIn(elsewhere), await isSignedIn(person.sessionToken)]).toEqual([false, false]);
    clock.advance(MINUTE);
    const own = await fixture.endpointsOf(confirmed.session_token);
    return { ...person, own, recoveryCodes: confirmed.recovery_codes };
  }

  it('is required at every sign-in once it is confirmed by a code, after the password', async () => {
    const { label, own, secret } = await enrolled();
    expect(await refusalOf(label)).toBeUndefined();
    expect(await codeOf(confirm(own, totpCode(secret, 10)))).toBe('second_factor_refused');

    const other = await withSecondFactor();
    expect(await refusalOf(other.label, 'not the password', totpCode(other.secret))).toBe('sign_in_refused');
    expect(await refusalOf(other.label)).toBe('second_factor_required');
    expect(await refusalOf(other.label, PASSWORD, '000 000')).toBe('second_factor_refused');
    expect(await refusalOf(other.label, PASSWORD, ` ${totpCode(other.secret)} `)).toBeUndefined();
    expect(await other.own.call(session.current)).toMatchObject({ second_factor: true });
  });

  it('accepts each code once, even concurrently, and none older than the last accepted one', async () => {
    const { label, secret } = await withSecondFactor();
    const code = totpCode(secret);
    const attempts = await Promise.all([1, 2, 3].map(() => refusalOf(label, PASSWORD, code)));
    expect(attempts.filter((one) => one === undefined)).toHaveLength(1);
    expect(await refusalOf(label, PASSWORD, totpCode(secret, -1))).toBe('second_factor_refused');
    expect(await refusalOf(label, PASSWORD, totpCode(secret, 1))).toBeUndefined();
  });

  it('has ten single-use recovery codes, stored as hashes only', async () => {
    const { label, recoveryCodes, own, secret } = await withSecondFactor();
    expect(new Set(recoveryCodes).size).toBe(10);
    const all = await dump();
    for (const code of recoveryCodes) expect(all).not.toContain(code.replaceAll('-', ''));
    const [first = '', second = ''] = recoveryCodes;
    expect(await refusalOf(label, PASSWORD, first.toUpperCase())).toBeUndefined();
    expect(await refusalOf(label, PASSWORD, first)).toBe('second_factor_refused');

    const both = { body: { password: PASSWORD, code: totpCode(secret) } };
    const renewed = await own.call(account.renewRecoveryCodes, both);
    expect(renewed.recovery_codes).toHaveLength(10);
    expect(await refusalOf(label, PASSWORD, second)).toBe('second_factor_refused');
  });

  it('is throttled even with the correct password', async () => {
    const { label } = await withSecondFactor();
    const results = new Set<unknown>();
    for (let attempt = 0; attempt < 25; attempt += 1) {
      const ipAddress = `203.0.113.${attempt}`;
      results.add(await codeOf(fixture.signIn(label, PASSWORD, '123456', { ipAddress })));
    }
    expect([...results]).toEqual(['second_factor_refused', 'too_many_attempts']);
  });

  it('survives a password reset, and can be removed only with password and code', async () => {
    const { id, label, secret } = await withSecondFactor();
    const reset = { body: { token: await link(id), password: OTHER_PASSWORD }, client };
    await fixture.withoutPerson.call(session.resetPassword, reset);
    expect(await refusalOf(label, OTHER_PASSWORD)).toBe('second_factor_required');
    const own = await fixture.endpointsOf(await signIn(label, OTHER_PASSWORD, totpCode(secret)));
    const remove = (code: string, password = OTHER_PASSWORD) =>
      codeOf(own.call(account.removeTotp, { body: { password, code } }));
    expect(await remove(totpCode(secret, 1), PASSWORD)).toBe('sign_in_refused');
    expect(await remove('000000')).toBe('second_factor_refused');
    expect(await remove(totpCode(secret, 1))).toBeUndefined();
    expect(await refusalOf(label, OTHER_PASSWORD)).toBeUndefined();
  });

  it('cannot be replaced from an unattended session', async () => {
    const { own } = await withSecondFactor();
    const enrol = (password: string) => codeOf(own.call(account.enrolTotp, { body: { password } }));
    expect([await enrol('guess the word'), await enrol(PASSWORD)]).toEqual(['sign_in_refused', 'conflict']);
  });
});
