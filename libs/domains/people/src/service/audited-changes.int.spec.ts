import type { AdminClient } from '@gateway/admin-calls';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { TOTP } from 'otpauth';
import { TEST_CLIENT as client } from '../testing/people-calls';
import { createPeopleFixture, PASSWORD, type PeopleFixture } from '../testing/people-under-test';

const NEW_PASSWORD = 'staple and tomato';
const ISSUER = 'https://idp.example';
const { account, managementTokens, people, session } = endpoints;

const clock = createTestClock();
let fixture: PeopleFixture;
const identityProvider = {
  label: 'Acme login',
  start: async () => ({ kind: 'started' as const, authorizationUrl: ISSUER }),
  finish: async () => ({
    kind: 'identified' as const,
    ...{ issuer: ISSUER, subject: 'ada', email: 'ada@mapped.example', emailVerified: true },
  }),
};

beforeAll(async () => {
  fixture = await createPeopleFixture({ clock, identityProvider });
  await fixture.pool.query(
    `create function refuse_audit() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$`,
  );
});
afterAll(() => fixture.stop());

/** What a change is made with: an organization, a person of it with a session, and calls for them and an operator. */
async function prepared() {
  const organizationId = await fixture.organization();
  const { id, email } = await fixture.person({ [organizationId]: 'member' });
  const sessionToken = (await fixture.signIn(email, PASSWORD)).session_token;
  const own = await fixture.endpointsOf(sessionToken);
  return {
    ...{ id, email, own, sessionToken, operator: fixture.endpoints, anyone: fixture.withoutPerson },
    inOrganization: { organization_id: organizationId },
    member: { organization_id: organizationId, member_id: id },
    person: { member_id: id },
  };
}
type Prepared = Awaited<ReturnType<typeof prepared>>;

const invite = async ({ operator, inOrganization }: Prepared, email: string) => {
  const of = { params: inOrganization, body: { email, role: 'member' } as const, client };
  const { link, invitation } = await operator.call(people.invite, of);
  return { token: link.split('#')[1] ?? '', id: invitation.id };
};
const tokenOfReset = async ({ operator, person }: Prepared) => {
  const { link } = await operator.call(people.createPasswordResetLink, { params: person, body: {}, client });
  return link.split('#')[1] ?? '';
};
const mapDomain = ({ operator, inOrganization }: Prepared) =>
  operator.call(people.mapDomain, {
    params: { ...inOrganization, domain: 'mapped.example' },
    body: { role: 'member' },
  });
const startSignOn = async ({ anyone }: Prepared) => {
  const started = await anyone.call(parts.startOidc, { body: { return_to: '/' }, client });
  return started.kind === 'started'
    ? { callback_query: `?state=${started.state}`, browser_token: started.browser_token }
    : { callback_query: '', browser_token: '' };
};
const enrolled = async ({ own }: Prepared) => {
  const { secret } = await own.call(account.enrolTotp, { body: { password: PASSWORD } });
  return () => {
    clock.advance(30_000);
    return new TOTP({ secret }).generate({ timestamp: clock.now() });
  };
};
async function withSecondFactor(of: Prepared): Promise<{ own: AdminClient; nextCode: () => string }> {
  const nextCode = await enrolled(of);
  const confirmed = await of.own.call(parts.confirmTotp, { body: { code: nextCode() }, client });
  return { own: await fixture.endpointsOf(confirmed.session_token), nextCode };
}
const createToken = ({ operator, inOrganization: params }: Prepared) => {
  const expires_on = new Date(clock.now()).toISOString().slice(0, 10);
  const body = { name: 'deploy', access: 'read', role: 'member', expires_on } as const;
  return operator.call(managementTokens.create, { params, body });
};

/** Prepares each change that people make, and returns the change itself. */
const CHANGES: Readonly<Record<string, (of: Prepared) => Promise<() => Promise<unknown>>>> = {
  'sign in':
    async ({ email }) =>
    () =>
      fixture.signIn(email, PASSWORD),
  'end a session':
    async ({ own }) =>
    () =>
      own.call(session.signOut, { body: {} }),
  'end the other sessions': async ({ own, email }) => {
    await fixture.signIn(email, PASSWORD);
    return () => own.call(session.endOthers, { body: {} });
  },
  'change a password':
    async ({ own }) =>
    () =>
      own.call(parts.changePassword, {
        body: { current_password: PASSWORD, new_password: NEW_PASSWORD },
        client,
      }),
  'create a reset link': async (of) => () => tokenOfReset(of),
  'reset a password': async (of) => {
    const token = await tokenOfReset(of);
    return () => of.anyone.call(session.resetPassword, { body: { token, password: NEW_PASSWORD }, client });
  },
  'enrol a second factor': async (of) => () => enrolled(of),
  'confirm a second factor': async (of) => {
    const nextCode = await enrolled(of);
    return () => of.own.call(parts.confirmTotp, { body: { code: nextCode() }, client });
  },
  'renew recovery codes': async (of) => {
    const { own, nextCode } = await withSecondFactor(of);
    return () => own.call(account.renewRecoveryCodes, { body: { password: PASSWORD, code: nextCode() } });
  },
  'remove a second factor': async (of) => {
    const { own, nextCode } = await withSecondFactor(of);
    return () => own.call(account.removeTotp, { body: { password: PASSWORD, code: nextCode() } });
  },
  'reset a second factor': async (of) => {
    await withSecondFactor(of);
    return () => of.operator.call(people.resetSecondFactor, { params: of.person, body: {} });
  },
  invite: async (of) => () => invite(of, 'new@example.com'),
  'replace an invitation': async (of) => {
    await invite(of, 'new@example.com');
    return () => invite(of, 'new@example.com');
  },
  'revoke an invitation': async (of) => {
    const { id } = await invite(of, 'new@example.com');
    const params = { ...of.inOrganization, invitation_id: id };
    return () => of.operator.call(people.revokeInvitation, { params, body: {} });
  },
  'accept an invitation as a new person': async (of) => {
    const { token } = await invite(of, 'new@example.com');
    return () => of.anyone.call(parts.acceptInvitation, { body: { token, password: NEW_PASSWORD }, client });
  },
  'accept an invitation with an account': async (of) => {
    const other = await fixture.person();
    const { session_token } = await fixture.signIn(other.email, PASSWORD);
    const { token } = await invite(of, other.email);
    return () => of.anyone.call(parts.acceptInvitation, { body: { token, session_token }, client });
  },
  'change a role': async (of) => () =>
    of.operator.call(people.setMemberRole, { params: of.member, body: { role: 'admin' } }),
  'remove a member': async (of) => () =>
    of.operator.call(people.removeMember, { params: of.member, body: {} }),
  'make an operator': async (of) => () =>
    of.operator.call(people.setOperator, { params: of.person, body: { operator: true } }),
  'disable an account': async (of) => () =>
    of.operator.call(people.setDisabled, { params: of.person, body: { disabled: true } }),
  'end all sessions': async (of) => () =>
    of.operator.call(people.endSessions, { params: of.person, body: {} }),
  'map a domain': async (of) => () => mapDomain(of),
  'unmap a domain': async (of) => {
    await mapDomain(of);
    const params = { ...of.inOrganization, domain: 'mapped.example' };
    return () => of.operator.call(people.unmapDomain, { params, body: {} });
  },
  'sign on for the first time': async (of) => {
    await mapDomain(of);
    return async () => of.anyone.call(parts.finishOidc, { body: await startSignOn(of), client });
  },
  'unlink an identity': async (of) => {
    const row = [ISSUER, 'linked', of.id];
    await fixture.pool.query('insert into member_identities values ($1, $2, $3, now())', row);
    return () => of.own.call(account.unlinkIdentity, { body: { issuer: ISSUER, password: PASSWORD } });
  },
  'create a management token': async (of) => () => createToken(of),
  'revoke a management token': async (of) => {
    const { token } = await createToken(of);
    const params = { ...of.inOrganization, token_id: token.id };
    return () => of.operator.call(managementTokens.revoke, { params, body: {} });
  },
};

/** The stored rows, without used codes and started sign-ins: both stay used. */
async function changeable() {
  const { members, oidc_flows: _flows, ...others } = await fixture.storedRows();
  const { rows } = await fixture.pool.query(
    `select id, role, disabled_at, password_hash, totp_secret, totp_confirmed_at from members order by id`,
  );
  expect(members).not.toBe('');
  return { ...others, members: rows };
}

describe('a change whose audit entry cannot be written is not made, and can be repeated', () => {
  afterEach(async () => {
    for (const table of ['invitations', 'organization_domains', 'member_identities']) {
      await fixture.pool.query(`delete from ${table}`);
    }
  });

  it.each(Object.keys(CHANGES))('%s', async (name) => {
    const change = await CHANGES[name]?.(await prepared());
    const before = await changeable();
    await fixture.pool.query(
      'create trigger refuse_audit before insert on audit_entries for each row execute function refuse_audit()',
    );
    await expect(change?.()).rejects.toMatchObject({ code: 'internal_error' });
    expect(await changeable()).toEqual(before);
    await fixture.pool.query('drop trigger refuse_audit on audit_entries');
    await change?.();
    expect(await changeable()).not.toEqual(before);
  });
});
