import { endpoints, type Endpoint } from '@gateway/dashboard-contract';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardResponse,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

const { account, people, session } = endpoints;

/** The response's JSON, validated against the contract. */
function responseOf<Of extends Endpoint>(
  { response: expected }: Of,
  response: DashboardResponse,
): Record<string, unknown> {
  if (expected.kind !== 'json') throw new Error('the endpoint does not return JSON');
  expect([response.status, response.error]).toEqual([expected.status, {}]);
  return expected.schema.parse(response.json) as Record<string, unknown>;
}

describe('people in the dashboard', () => {
  let fixture: DashboardFixture;
  let operator: Browser;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createDashboardFixture();
    operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.request('POST /api/organizations', { name: 'Acme' });
    organizationId = (json as { organization: { id: string } }).organization.id;
  });
  afterAll(() => fixture.stop());

  const tokenOf = (link: unknown) => String(link).split('#')[1] ?? '';

  it('join through a link, and get a new session cookie when they change their password', async () => {
    const path = `/api/organizations/${organizationId}`;
    const invitation = { email: 'new@example.com', role: 'owner' };
    const invited = responseOf(people.invite, await operator.request(`POST ${path}/invitations`, invitation));
    expect(invited['emailed']).toBe(false);
    // As in the audit log, customers do not see which operator it was.
    expect(invited['invitation']).toMatchObject({ invited_by: 'Operator' });
    expect(invited['link']).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${fixture.api.port()}/invitation#`));
    const token = tokenOf(invited['link']);

    const browser = createBrowser(fixture.api.port());
    const shown = await browser.request('POST /api/invitations/look-up', { token });
    expect(responseOf(session.invitation, shown)).toMatchObject({
      organization: { name: 'Acme' },
      role: 'owner',
    });
    // From here on, a cookie represents the link, and only in this browser.
    const again = await browser.request('POST /api/invitations/look-up', {});
    expect(responseOf(session.invitation, again)).toEqual(shown.json);
    const elsewhere = await createBrowser(fixture.api.port()).request('POST /api/invitations/look-up', {});
    expect(elsewhere.error.code).toBe('link_not_valid');
    const password = 'staple and tomato';
    const joined = await browser.request('POST /api/invitations/accept', { password });
    expect(responseOf(session.acceptInvitation, joined)).toMatchObject({
      member: { email: 'new@example.com', role: 'member' },
      memberships: [{ organization: { id: organizationId }, role: 'owner' }],
    });
    expect((await browser.request('POST /api/invitations/look-up', { token })).error.code).toBe(
      'link_not_valid',
    );

    const statesOf = async (query: string) =>
      responseOf(people.invitations, await operator.request(`GET ${path}/invitations${query}`)).data;
    expect(await statesOf('?state=open')).toEqual([]);
    expect(await statesOf('')).toMatchObject([{ email: 'new@example.com', state: 'accepted' }]);

    const before = browser.cookie();
    const change = { current_password: password, new_password: 'tomato and staple' };
    responseOf(account.changePassword, await browser.request('PUT /api/account/password', change));
    expect(browser.cookie()).not.toBe(before);
    const stale = await createBrowser(fixture.api.port()).request('GET /api/session', undefined, {
      cookie: before,
    });
    expect(stale.status).toBe(401);
    responseOf(session.list, await browser.request('GET /api/sessions'));

    const list = responseOf(people.members, await operator.request(`GET ${path}/members`));
    expect(list['data']).toMatchObject([{ email: 'new@example.com', role: 'owner', second_factor: false }]);
    expect((await browser.request(`POST ${path}/leave`)).error.code).toBe('conflict');
    responseOf(people.invitations, await operator.request(`GET ${path}/invitations`));
    responseOf(people.list, await operator.request('GET /api/people'));
  });

  it('have a name next to their email, also in the audit log and in exports, and a time zone', async () => {
    const path = `/api/organizations/${organizationId}`;
    const invitation = { email: 'ada@example.com', role: 'admin' };
    const invited = responseOf(people.invite, await operator.request(`POST ${path}/invitations`, invitation));
    const browser = createBrowser(fixture.api.port());
    const accept = { token: tokenOf(invited['link']), password: 'staple and tomato' };
    const refused = await browser.request('POST /api/invitations/accept', { ...accept, name: 'Ada <eve@x>' });
    expect([refused.status, refused.error.param]).toEqual([400, 'name']);
    const joined = await browser.request('POST /api/invitations/accept', { ...accept, name: ' Ada L. ' });
    expect(responseOf(session.acceptInvitation, joined)).toMatchObject({
      member: { email: 'ada@example.com', name: 'Ada L.' },
      time_zone: '',
    });
    for (const [body, param] of [
      [{ time_zone: 'Europe/Atlantis' }, 'time_zone'],
      [{ name: 'x'.repeat(101) }, 'name'],
    ] as const) {
      const { status, error } = await browser.request('PUT /api/account/profile', body);
      expect([status, error.param]).toEqual([400, param]);
    }
    await browser.request('PUT /api/account/profile', { time_zone: 'Europe/Berlin' });
    await browser.request('PUT /api/account/profile', { name: 'Ada Lovelace' });
    expect(responseOf(session.current, await browser.request('GET /api/session'))).toMatchObject({
      member: { name: 'Ada Lovelace' },
      time_zone: 'Europe/Berlin',
    });

    const found = responseOf(people.list, await operator.request('GET /api/people?search=lovelace'));
    expect(found['data']).toMatchObject([{ email: 'ada@example.com', name: 'Ada Lovelace' }]);
    const listed = responseOf(people.members, await browser.request(`GET ${path}/members?search=lovelace`));
    expect(listed['data']).toMatchObject([{ email: 'ada@example.com', name: 'Ada Lovelace' }]);
    const key = responseOf(
      endpoints.keys.create,
      await browser.request(`POST ${path}/keys`, { name: 'k', scopes: ['chat'] }),
    );
    expect(key['key']).toMatchObject({ owner: { email: 'ada@example.com', name: 'Ada Lovelace' } });
    const label = 'Ada Lovelace <ada@example.com>';
    // The dashboard filters by members that it finds, so an actor has the id of the member.
    const [{ id = '' } = {}] = listed['data'] as { id?: string }[];
    const audit = responseOf(
      endpoints.audit.list,
      await browser.request(`GET ${path}/audit?action=key.create&actor_id=${id}`),
    );
    expect(audit['data']).toMatchObject([{ actor: { label } }]);
    for (const file of ['audit.csv', 'keys.csv']) {
      const url = `http://127.0.0.1:${fixture.api.port()}${path}/${file}`;
      const response = await fetch(url, { headers: { cookie: browser.cookie() } });
      expect(await response.text()).toContain(label);
    }
  });

  it('enrol TOTP with a QR code, and reset their password with an operator’s link', async () => {
    const memberId = await fixture.person('forgetful@example.com');
    const browser = await fixture.signedIn('forgetful@example.com');
    const { password } = OPERATOR;
    const enrolled = responseOf(
      account.enrolTotp,
      await browser.request('POST /api/account/totp/enrol', { password }),
    );
    expect(enrolled['qr_svg']).toMatch(/^<svg /);
    expect(enrolled['otpauth_uri']).toContain(String(enrolled['secret']));

    const created = await operator.request(`POST /api/people/${memberId}/password-reset-link`);
    const { link } = responseOf(people.createPasswordResetLink, created);
    const reset = { token: tokenOf(link), password: 'a freshly chosen one' };
    expect((await browser.request('POST /api/password-reset/complete', reset)).status).toBe(204);
    expect((await browser.request('GET /api/session')).error.code).toBe('not_signed_in');
    await fixture.signedIn('forgetful@example.com', 'a freshly chosen one');
  });

  it('see the available sign-in options', async () => {
    const options = await createBrowser(fixture.api.port()).request('GET /api/sign-in-options');
    expect(responseOf(session.signInOptions, options)).toEqual({
      oidc: null,
      password_reset_by_email: false,
      operator_contact: null,
    });
  });

  it.each(['start', 'callback?state=a'])(
    'have no single sign-on unless it is configured: %s',
    async (path) => {
      const { error } = await createBrowser(fixture.api.port()).request(`GET /api/oidc/${path}`);
      expect(error.code).toBe('not_found');
    },
  );

  it('do not see in their audit log who acted as an operator, nor from where', async () => {
    const created = await operator.request('POST /api/organizations', { name: 'Discreet' });
    const { id } = (created.json as { organization: { id: string } }).organization;
    const ownerId = await fixture.person('discreet-owner@example.com', { [id]: 'owner' });
    const owner = await fixture.signedIn('discreet-owner@example.com');
    await owner.request(`POST /api/organizations/${id}/keys`, { name: 'own', scopes: ['chat'] });
    type Entry = { action: string; actor: { id: string; label: string; ip_address: string } };
    const actorsSeenBy = async (browser: Browser) => {
      const { json } = await browser.request(`GET /api/organizations/${id}/audit`);
      const { data } = json as { data: Entry[] };
      return Object.fromEntries(data.map(({ action, actor }) => [action, actor]));
    };
    expect(await actorsSeenBy(owner)).toEqual({
      'organization.create': { id: 'operator', label: 'Operator', ip_address: '' },
      'key.create': { id: ownerId, label: 'discreet-owner@example.com', ip_address: '127.0.0.1' },
    });
    expect((await actorsSeenBy(operator))['organization.create']).toMatchObject({
      label: OPERATOR.email,
      ip_address: '127.0.0.1',
    });
  });
});
