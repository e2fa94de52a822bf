import { createSmtpMailer } from '@gateway/mail';
import { eventually, startMailServer, type ReceivedEmail } from '@gateway/test-support';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardFixture,
} from './testing/dashboard-fixture';

type MailServer = Awaited<ReturnType<typeof startMailServer>>;

describe('links in emails', () => {
  let server: MailServer;
  let fixture: DashboardFixture;

  beforeAll(async () => {
    server = await startMailServer();
    const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${server.port}`, from: 'gateway@example.com' });
    fixture = await createDashboardFixture({}, { mailer });
  });
  afterAll(async () => {
    await fixture?.stop();
    await server?.stop();
  });

  const emailTo = (email: string): Promise<ReceivedEmail> =>
    eventually(`an email to ${email}`, async () => server.mails.find(({ to }) => to.includes(email)));
  /** Decodes quoted-printable line breaks. */
  const linkIn = ({ data }: ReceivedEmail) =>
    new URL(/https?:\/\/\S+/.exec(data.replace(/=\r\n/g, '').replace(/=3D/g, '='))?.[0] ?? '');

  it('reset a password once, on the reset page', async () => {
    await fixture.person('forgetful@example.com');
    const browser = createBrowser(fixture.api.port());
    expect(
      (await browser.request('POST /api/password-reset', { email: 'Forgetful@example.com ' })).status,
    ).toBe(204);
    const mail = await emailTo('forgetful@example.com');
    expect(mail).toMatchObject({ from: 'gateway@example.com', to: ['forgetful@example.com'] });
    const link = linkIn(mail);
    expect([link.origin, link.pathname]).toEqual([
      `http://127.0.0.1:${fixture.api.port()}`,
      '/reset-password',
    ]);

    const reset = { token: link.hash.slice(1), password: 'remembered this time' };
    expect((await browser.request('POST /api/password-reset/complete', reset)).status).toBe(204);
    expect((await browser.request('POST /api/password-reset/complete', reset)).error.code).toBe(
      'link_not_valid',
    );
    await fixture.signedIn('forgetful@example.com', 'remembered this time');
  });

  it('are not sent to an unknown email, and the response does not reveal that', async () => {
    const browser = createBrowser(fixture.api.port());
    const unknown = await browser.request('POST /api/password-reset', { email: 'unknown@example.com' });
    expect([unknown.status, unknown.json]).toEqual([204, {}]);
    // An email to the unknown address would have arrived before the next one.
    await browser.request('POST /api/password-reset', { email: OPERATOR.email });
    await emailTo(OPERATOR.email);
    expect(server.mails.flatMap(({ to }) => to)).not.toContain('unknown@example.com');
  });

  it('invite people, to the invitation page', async () => {
    const operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.request('POST /api/organizations', { name: 'Acme' });
    const { id } = (json as { organization: { id: string } }).organization;
    const wanted = { email: 'new@example.com', role: 'member' };
    const invited = await operator.request(`POST /api/organizations/${id}/invitations`, wanted);
    expect(invited.json).toMatchObject({ emailed: true });
    const link = linkIn(await emailTo('new@example.com'));
    expect(link.pathname).toBe('/invitation');
    expect(link.href).toBe((invited.json as { link: string }).link);
  });

  it('invite a person with an account until a time of their time zone and of UTC', async () => {
    await fixture.person('known@example.com');
    const known = await fixture.signedIn('known@example.com');
    await known.request('PUT /api/account/profile', { time_zone: 'Asia/Tokyo' });
    const operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.request('POST /api/organizations', { name: 'Acme' });
    const { id } = (json as { organization: { id: string } }).organization;
    const wanted = { email: 'known@example.com', role: 'member' };
    await operator.request(`POST /api/organizations/${id}/invitations`, wanted);
    const { data } = await emailTo('known@example.com');
    expect(data.replace(/=\r\n/g, '')).toMatch(/until \w+, .* Asia\/Tokyo \(.*\d\d:\d\d:\d\d UTC\)/);
  });

  it('are limited per recipient, over all organizations and replicas, and name the time to wait', async () => {
    const operator = await fixture.signedIn(OPERATOR.email);
    const statuses: number[] = [];
    for (let sent = 0; sent < 11; sent += 1) {
      const { json } = await operator.request('POST /api/organizations', { name: `Acme ${sent}` });
      const { id } = (json as { organization: { id: string } }).organization;
      const wanted = { email: sent % 2 ? 'Outsider@example.org' : 'outsider@example.org', role: 'member' };
      const invited = await operator.request(`POST /api/organizations/${id}/invitations`, wanted);
      statuses.push(invited.status);
      if (invited.status === 201) continue;
      expect(invited.error).toMatchObject({ code: 'too_many_attempts' });
      expect(Number(invited.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(201), 429]);
  });

  it('report to a person what an operator changed about their account', async () => {
    const operator = await fixture.signedIn(OPERATOR.email);
    const id = await fixture.person('managed@example.com');
    await fixture.signedIn('managed@example.com');
    await operator.request(`POST /api/people/${id}/sessions/end`);
    await operator.request(`PUT /api/people/${id}/disabled`, { disabled: true });
    const texts = await eventually('both emails', async () => {
      const received = server.mails.filter(({ to }) => to.includes('managed@example.com'));
      return received.length === 2 ? received.map(({ data }) => data).join('\n') : undefined;
    });
    expect(texts).toContain('signed you out on all devices');
    expect(texts).toContain('disabled your account');
    const refused = await createBrowser(fixture.api.port()).request('POST /api/session', {
      email: 'managed@example.com',
      password: OPERATOR.password,
    });
    expect([refused.status, refused.error.code]).toEqual([403, 'account_disabled']);
  });
});
