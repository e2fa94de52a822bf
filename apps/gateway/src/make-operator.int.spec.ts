import { makeOperator } from '@gateway/auth';
import { DAY_MS, type Clock, type UnixMs } from '@gateway/base';
import { createSilentLogger, systemClock } from '@gateway/runtime';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type DashboardFixture,
} from './testing/dashboard-fixture';

const DASHBOARD = 'https://admin.example.com';
const PASSWORD = 'a horse that is correct';

describe('the make-operator command', () => {
  let fixture: DashboardFixture;
  beforeAll(async () => {
    fixture = await createDashboardFixture();
  });
  afterAll(() => fixture.stop());

  const make = (email: string, clock: Clock = systemClock) =>
    makeOperator({ pool: fixture.pool, clock, log: createSilentLogger(), dashboardUrl: DASHBOARD, email });

  /** Opens the link and sets a password. */
  async function choosePassword(link: string) {
    const url = new URL(link);
    expect(url.origin + url.pathname).toBe(`${DASHBOARD}/reset-password`);
    const token = url.hash.slice(1);
    return createBrowser(fixture.api.port()).request('POST /api/password-reset/complete', {
      token,
      password: PASSWORD,
    });
  }

  const roleOf = async (email: string) =>
    (await (await fixture.signedIn(email, PASSWORD)).request('GET /api/session')).json;

  it('creates a member and a link to set a password', async () => {
    const { link, expiresAt } = await make('first@example.com');
    expect(expiresAt).toBeGreaterThan(Date.now());
    expect((await choosePassword(link)).status).toBeLessThan(300);
    expect(await roleOf('first@example.com')).toMatchObject({ member: { role: 'operator' } });
  });

  it('expires the link by the clock of the database', async () => {
    const inTwoYears = (Date.now() + 730 * DAY_MS) as UnixMs;
    expect((await make('late-clock@example.com', { now: () => inTwoYears })).expiresAt).toBeGreaterThan(
      inTwoYears,
    );
  });

  it('promotes an existing member, and creates a new link on each run', async () => {
    await fixture.person('member@example.com');
    const { link: earlier } = await make('member@example.com');
    const { link } = await make('member@example.com');
    expect(link).not.toBe(earlier);
    expect((await choosePassword(link)).status).toBeLessThan(300);
    expect(await roleOf('member@example.com')).toMatchObject({ member: { role: 'operator' } });
  });

  it('keeps the current password valid until a new one is set', async () => {
    await make(OPERATOR.email);
    expect((await (await fixture.signedIn(OPERATOR.email)).request('GET /api/session')).status).toBe(200);
  });

  it('is recorded in the audit log with its actor', async () => {
    await make('seen@example.com');
    const operator = await fixture.signedIn(OPERATOR.email);
    const { json } = await operator.request('GET /api/audit');
    expect(json).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({
          action: 'member.create',
          actor: expect.objectContaining({ label: 'command line' }),
        }),
      ]),
    });
  });

  it.each(['', 'invalid', 'a@b@c'])('rejects the email "%s"', async (email) => {
    await expect(make(email)).rejects.toThrow(/email/);
  });

  it('reports that auth is unavailable', async () => {
    await fixture.database.cut();
    await expect(make('late@example.com')).rejects.toThrow();
    await fixture.database.restore();
  });
});
