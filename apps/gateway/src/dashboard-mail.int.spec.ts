import { createSmtpMailer } from '@gateway/mail';
import { eventually, startMailServer, type ReceivedMail } from '@gateway/test-support';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardFixture,
} from './testing/dashboard-fixture';

type MailServer = Awaited<ReturnType<typeof startMailServer>>;

describe('links by mail', () => {
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

  const mailTo = (email: string): Promise<ReceivedMail> =>
    eventually(`a mail to ${email}`, async () => server.mails.find(({ to }) => to.includes(email)));
  /** As a mail program shows it, without the line breaks that mail puts into long lines. */
  const linkIn = ({ data }: ReceivedMail) =>
    new URL(/https?:\/\/\S+/.exec(data.replace(/=\r\n/g, '').replace(/=3D/g, '='))?.[0] ?? '');

  it('let somebody choose a new password, once, at the page that is there for it', async () => {
    await fixture.person('forgetful@example.com');
    const browser = createBrowser(fixture.api.port());
    expect((await browser.ask('POST /api/password-reset', { email: 'Forgetful@example.com ' })).status).toBe(
      204,
    );
    const mail = await mailTo('forgetful@example.com');
    expect(mail).toMatchObject({ from: 'gateway@example.com', to: ['forgetful@example.com'] });
    const link = linkIn(mail);
    expect([link.origin, link.pathname]).toEqual([
      `http://127.0.0.1:${fixture.api.port()}`,
      '/reset-password',
    ]);

    const reset = { token: link.hash.slice(1), password: 'remembered this time' };
    expect((await browser.ask('POST /api/password-reset/complete', reset)).status).toBe(204);
    expect((await browser.ask('POST /api/password-reset/complete', reset)).error.code).toBe('link_not_valid');
    await fixture.signedIn('forgetful@example.com', 'remembered this time');
  });

  it('go to nobody for an email that nobody has, and are not told of', async () => {
    const browser = createBrowser(fixture.api.port());
    const asked = await browser.ask('POST /api/password-reset', { email: 'nobody@example.com' });
    expect([asked.status, asked.json]).toEqual([204, {}]);
    // What would have been sent before it has arrived by the time of the next one.
    await browser.ask('POST /api/password-reset', { email: OPERATOR.email });
    await mailTo(OPERATOR.email);
    expect(server.mails.flatMap(({ to }) => to)).not.toContain('nobody@example.com');
  });

  it('invite, to the page that is there for it', async () => {
    const operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.ask('POST /api/organizations', { name: 'Acme' });
    const { id } = (json as { organization: { id: string } }).organization;
    const wanted = { email: 'new@example.com', role: 'member' };
    const invited = await operator.ask(`POST /api/organizations/${id}/invitations`, wanted);
    expect(invited.json).toMatchObject({ emailed: true });
    const link = linkIn(await mailTo('new@example.com'));
    expect(link.pathname).toBe('/invitation');
    expect(link.href).toBe((invited.json as { link: string }).link);
  });
});
