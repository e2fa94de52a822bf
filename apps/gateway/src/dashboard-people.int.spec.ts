import { endpoints, type Endpoint } from '@gateway/dashboard-contract';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Answered,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

const { account, people, session } = endpoints;

/** The response's JSON, validated by the contract. */
function answerOf<Of extends Endpoint>({ response }: Of, answered: Answered): Record<string, unknown> {
  if (response.kind !== 'json') throw new Error('the endpoint returns no JSON');
  expect([answered.status, answered.error]).toEqual([response.status, {}]);
  return response.schema.parse(answered.json) as Record<string, unknown>;
}

describe('people at the dashboard', () => {
  let fixture: DashboardFixture;
  let operator: Browser;
  let organizationId: string;

  beforeAll(async () => {
    fixture = await createDashboardFixture();
    operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.ask('POST /api/organizations', { name: 'Acme' });
    organizationId = (json as { organization: { id: string } }).organization.id;
  });
  afterAll(() => fixture.stop());

  const tokenOf = (link: unknown) => String(link).split('#')[1] ?? '';

  it('come by a link, work under a cookie that changes with their password, and go', async () => {
    const path = `/api/organizations/${organizationId}`;
    const invitation = { email: 'new@example.com', role: 'owner' };
    const invited = answerOf(people.invite, await operator.ask(`POST ${path}/invitations`, invitation));
    expect(invited['emailed']).toBe(false);
    expect(invited['link']).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${fixture.api.port()}/invitation#`));
    const token = tokenOf(invited['link']);

    const browser = createBrowser(fixture.api.port());
    const shown = await browser.ask('POST /api/invitations/look-up', { token });
    expect(answerOf(session.invitation, shown)).toMatchObject({
      organization: { name: 'Acme' },
      role: 'owner',
    });
    // What the browser keeps stands for the link from here on, and for nobody else's browser.
    const again = await browser.ask('POST /api/invitations/look-up', {});
    expect(answerOf(session.invitation, again)).toEqual(shown.json);
    const elsewhere = await createBrowser(fixture.api.port()).ask('POST /api/invitations/look-up', {});
    expect(elsewhere.error.code).toBe('link_not_valid');
    const password = 'staple and tomato';
    const joined = await browser.ask('POST /api/invitations/accept', { password });
    expect(answerOf(session.acceptInvitation, joined)).toMatchObject({
      member: { email: 'new@example.com', role: 'member' },
      memberships: [{ organization: { id: organizationId }, role: 'owner' }],
    });
    expect((await browser.ask('POST /api/invitations/look-up', { token })).error.code).toBe('link_not_valid');

    const before = browser.cookie();
    const change = { current_password: password, new_password: 'tomato and staple' };
    answerOf(account.changePassword, await browser.ask('PUT /api/account/password', change));
    expect(browser.cookie()).not.toBe(before);
    const stale = await createBrowser(fixture.api.port()).ask('GET /api/session', undefined, {
      cookie: before,
    });
    expect(stale.status).toBe(401);
    answerOf(session.list, await browser.ask('GET /api/sessions'));

    const list = answerOf(people.members, await operator.ask(`GET ${path}/members`));
    expect(list['data']).toMatchObject([{ email: 'new@example.com', role: 'owner', second_factor: false }]);
    expect((await browser.ask(`POST ${path}/leave`)).error.code).toBe('conflict');
    answerOf(people.invitations, await operator.ask(`GET ${path}/invitations`));
    answerOf(people.list, await operator.ask('GET /api/people'));
  });

  it('draw their second factor as a code to be photographed, and choose passwords by an operator’s link', async () => {
    const memberId = await fixture.person('forgetful@example.com');
    const browser = await fixture.signedIn('forgetful@example.com');
    const { password } = OPERATOR;
    const enrolled = answerOf(
      account.enrolTotp,
      await browser.ask('POST /api/account/totp/enrol', { password }),
    );
    expect(enrolled['qr_svg']).toMatch(/^<svg /);
    expect(enrolled['otpauth_uri']).toContain(String(enrolled['secret']));

    const made = await operator.ask(`POST /api/people/${memberId}/password-reset-link`);
    const { link } = answerOf(people.createPasswordResetLink, made);
    const reset = { token: tokenOf(link), password: 'chosen quite anew' };
    expect((await browser.ask('POST /api/password-reset/complete', reset)).status).toBe(204);
    expect((await browser.ask('GET /api/session')).error.code).toBe('not_signed_in');
    await fixture.signedIn('forgetful@example.com', 'chosen quite anew');
  });

  it('are told what the sign-in page offers', async () => {
    const options = await createBrowser(fixture.api.port()).ask('GET /api/sign-in-options');
    expect(answerOf(session.signInOptions, options)).toEqual({ oidc: null, password_reset_by_email: false });
  });
});
