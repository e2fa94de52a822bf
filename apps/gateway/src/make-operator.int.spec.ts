import { makeOperator } from '@gateway/dashboard-api';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardFixture,
} from './testing/dashboard-fixture';

const DASHBOARD = 'https://admin.example.com';
const PASSWORD = 'a horse that is correct';

describe('the command for an operator', () => {
  let fixture: DashboardFixture;
  beforeAll(async () => {
    fixture = await createDashboardFixture();
  });
  afterAll(() => fixture.stop());

  const make = (email: string) =>
    makeOperator({ authAdmin: fixture.authAdmin, dashboardUrl: DASHBOARD }, email);

  /** What whoever opens the link does. */
  async function choosePassword(link: string) {
    const url = new URL(link);
    expect(url.origin + url.pathname).toBe(`${DASHBOARD}/reset-password`);
    const token = url.hash.slice(1);
    return createBrowser(fixture.api.port()).ask('POST /api/password-reset/complete', {
      token,
      password: PASSWORD,
    });
  }

  const roleOf = async (email: string) =>
    (await (await fixture.signedIn(email, PASSWORD)).ask('GET /api/session')).json;

  it('makes somebody who was not there, and a link by which they choose their password', async () => {
    const { link, expiresUnixMs } = await make('first@example.com');
    expect(Number(expiresUnixMs)).toBeGreaterThan(Date.now());
    expect((await choosePassword(link)).status).toBeLessThan(300);
    expect(await roleOf('first@example.com')).toMatchObject({ member: { role: 'operator' } });
  });

  it('makes an operator of somebody who was none, and asks again as often as it is run', async () => {
    await fixture.person('member@example.com');
    const { link: earlier } = await make('member@example.com');
    const { link } = await make('member@example.com');
    expect(link).not.toBe(earlier);
    expect((await choosePassword(link)).status).toBeLessThan(300);
    expect(await roleOf('member@example.com')).toMatchObject({ member: { role: 'operator' } });
  });

  it('lets an operator sign in by the password they have until they choose another', async () => {
    await make(OPERATOR.email);
    expect((await (await fixture.signedIn(OPERATOR.email)).ask('GET /api/session')).status).toBe(200);
  });

  it('is in the audit log, by who made it', async () => {
    await make('seen@example.com');
    const operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.ask('GET /api/audit');
    expect(json).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({
          action: 'member.create',
          actor: expect.objectContaining({ label: 'command line' }),
        }),
      ]),
    });
  });

  it.each(['', 'nobody', 'a@b@c'])('says what is wrong with the email "%s"', async (email) => {
    await expect(make(email)).rejects.toThrow(/email/);
  });

  it('says that auth is away', async () => {
    await fixture.database.cut();
    await expect(make('late@example.com')).rejects.toMatchObject({ code: 'unavailable' });
    await fixture.database.mend();
  });
});
