import { allEndpoints, type Endpoint } from '@gateway/dashboard-contract';
import { eventually } from '@gateway/test-support';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/** Every endpoint calls auth first, so all of them fail in the same way. */
describe('the dashboard while its database is unavailable', () => {
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

  const lineOf = ({ method, path }: Endpoint) =>
    `${method} ${path.replace('{organization_id}', organizationId).replace(/\{\w+\}/g, 'some-id')}`;
  const credentials = { email: OPERATOR.email, password: OPERATOR.password };

  it('returns 503 from every endpoint, and recovers when the database is available again', async () => {
    await fixture.database.cut();
    try {
      const signedIn = allEndpoints().filter(({ access }) => access !== 'anyone');
      for (const endpoint of signedIn) {
        const { status, error, headers } = await operator.request(lineOf(endpoint), {});
        expect([lineOf(endpoint), status, error.code]).toEqual([lineOf(endpoint), 503, 'unavailable']);
        expect(headers.get('x-request-id')).toMatch(/^req_/);
        // Messages of the database driver belong in logs only.
        expect(error.message).not.toMatch(/prisma|pg|connect|terminat/i);
      }
      const signedOut = createBrowser(fixture.api.port());
      for (const [line, body] of [
        ['POST /api/session', credentials],
        ['POST /api/invitations/look-up', { token: 'a token' }],
        ['POST /api/invitations/accept', { token: 'a token', password: 'staple and tomato' }],
        ['POST /api/password-reset/complete', { token: 'a token', password: 'staple and tomato' }],
      ] as const) {
        const { status, error } = await signedOut.request(line, body);
        expect([line, status, error.code]).toEqual([line, 503, 'unavailable']);
      }
    } finally {
      await fixture.database.restore();
    }
    await eventually('the dashboard has recovered', async () =>
      (await operator.request('GET /api/session')).status === 200 ? true : undefined,
    );
    // The session is still valid, and writes succeed.
    expect((await operator.request(`POST /api/organizations/${organizationId}/suspend`, {})).status).toBe(
      200,
    );
    await fixture.signedIn(OPERATOR.email);
  });
});
