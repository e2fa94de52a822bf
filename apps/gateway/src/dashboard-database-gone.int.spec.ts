import { allEndpoints, type Endpoint } from '@gateway/dashboard-contract';
import { eventually } from '@gateway/test-support';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/**
 * Every endpoint that anybody may ask asks auth; all others do before anything else, so that they share
 * one way to fail.
 */
describe('the dashboard while its database is away', () => {
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

  const filled = ({ method, path }: Endpoint) =>
    `${method} ${path.replace('{organization_id}', organizationId).replace(/\{\w+\}/g, 'some-id')}`;
  const credentials = { email: OPERATOR.email, password: OPERATOR.password };

  it('says that a service cannot be reached, at every endpoint, and is whole again once it is back', async () => {
    await fixture.database.cut();
    try {
      const signedIn = allEndpoints().filter(({ access }) => access !== 'anyone');
      for (const endpoint of signedIn) {
        const { status, error, headers } = await operator.ask(filled(endpoint), {});
        expect([filled(endpoint), status, error.code]).toEqual([filled(endpoint), 503, 'unavailable']);
        expect(headers.get('x-request-id')).toMatch(/^req-/);
        // What the database's driver says is for our logs.
        expect(error.message).not.toMatch(/prisma|pg|connect|terminat/i);
      }
      const stranger = createBrowser(fixture.api.port());
      for (const [line, body] of [
        ['POST /api/session', credentials],
        ['POST /api/invitations/look-up', { token: 'a token' }],
        ['POST /api/invitations/accept', { token: 'a token', password: 'staple and tomato' }],
        ['POST /api/password-reset/complete', { token: 'a token', password: 'staple and tomato' }],
      ] as const) {
        const { status, error } = await stranger.ask(line, body);
        expect([line, status, error.code]).toEqual([line, 503, 'unavailable']);
      }
    } finally {
      await fixture.database.mend();
    }
    await eventually('it answers again', async () =>
      (await operator.ask('GET /api/session')).status === 200 ? true : undefined,
    );
    // The session of before is still one, and changes are made again.
    expect((await operator.ask(`POST /api/organizations/${organizationId}/suspend`, {})).status).toBe(200);
    await fixture.signedIn(OPERATOR.email);
  });
});
