import { hasPermission, isPermission, type Permission } from '@gateway/base';
import { allEndpoints, type Endpoint } from '@gateway/dashboard-contract';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/** The most powerful role last. */
const ROLES = ['member', 'billing', 'developer', 'admin', 'owner', 'operator'] as const;
type Role = (typeof ROLES)[number];

/** What each role may do is the table of permissions.spec. */
const hasAccess = (role: Role, permission: Permission) =>
  hasPermission(
    role === 'operator'
      ? { memberRole: 'operator', organizationRole: undefined }
      : { memberRole: 'member', organizationRole: role },
    permission,
  );

/** A field that no endpoint accepts: an authorized request is rejected as invalid and has no effect. */
const UNKNOWN_FIELD = 'no_such_field';

const endpoints = allEndpoints().map(
  (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const,
);

describe('authorization of the dashboard API', () => {
  let fixture: DashboardFixture;
  let ownId: string;
  let foreignId: string;
  const browsers = {} as Record<Role | 'anonymous', Browser>;

  beforeAll(async () => {
    fixture = await createDashboardFixture();
    browsers.operator = await fixture.signedIn(OPERATOR.email);
    const create = async (name: string) => {
      const { json } = await browsers.operator.request('POST /api/organizations', { name });
      return (json as { organization: { id: string } }).organization.id;
    };
    [ownId, foreignId] = [await create('Own'), await create('Foreign')];
    for (const role of ROLES) {
      if (role === 'operator') continue;
      await fixture.person(`${role}@example.com`, { [ownId]: role });
      browsers[role] = await fixture.signedIn(`${role}@example.com`);
    }
    browsers.anonymous = createBrowser(fixture.api.port());
  });
  afterAll(() => fixture.stop());

  function send(browser: Browser, { method, path }: Endpoint, organizationId: string) {
    const concretePath = path.replace('{organization_id}', organizationId).replace(/\{\w+\}/g, 'some-id');
    if (method === 'GET') return browser.request(`${method} ${concretePath}?${UNKNOWN_FIELD}=1`);
    return browser.request(`${method} ${concretePath}`, { [UNKNOWN_FIELD]: true });
  }

  const AUTHORIZED = [400, 'invalid'];
  const outcomeOf = async (browser: Browser, endpoint: Endpoint, organizationId: string) => {
    const { status, error } = await send(browser, endpoint, organizationId);
    return [status, error.code];
  };

  describe.each(endpoints)('%s', (_line, endpoint) => {
    const { access } = endpoint;
    if (access === 'anyone') {
      it('allows anonymous requests', async () => {
        const outcome = await outcomeOf(browsers.anonymous, endpoint, ownId);
        // The callback accepts arbitrary query parameters from the identity provider.
        if (endpoint.response.kind !== 'redirect') expect(outcome).toEqual(AUTHORIZED);
        else expect([401, 403]).not.toContain(outcome[0]);
      });
      return;
    }

    it('requires a session', async () => {
      expect(await outcomeOf(browsers.anonymous, endpoint, ownId)).toEqual([401, 'not_signed_in']);
    });

    if (!isPermission(access)) {
      it('allows a member', async () => {
        expect(await outcomeOf(browsers.member, endpoint, ownId)).toEqual(AUTHORIZED);
      });
      return;
    }

    it('allows the least powerful role with the permission, and refuses the most powerful one without it', async () => {
      const allowed = ROLES.find((role) => hasAccess(role, access));
      expect(await outcomeOf(browsers[allowed as Role], endpoint, ownId)).toEqual(AUTHORIZED);
      const refused = ROLES.filter((role) => !hasAccess(role, access)).at(-1);
      if (refused) expect(await outcomeOf(browsers[refused], endpoint, ownId)).toEqual([403, 'forbidden']);
    });

    if (!endpoint.path.includes('{organization_id}')) return;

    it('does not reveal to an owner whether another organization exists', async () => {
      const foreign = await send(browsers.owner, endpoint, foreignId);
      const absent = await send(browsers.owner, endpoint, 'org-missing');
      const expected = access.startsWith('platform:') ? [403, 'forbidden'] : [404, 'not_found'];
      expect([foreign.status, foreign.error.code]).toEqual(expected);
      expect([absent.status, absent.error]).toEqual([foreign.status, foreign.error]);
    });

    it('allows operators what their role may in every organization, and returns 404 for a missing one', async () => {
      const isAllowed = hasAccess('operator', access);
      expect(await outcomeOf(browsers.operator, endpoint, foreignId)).toEqual(
        isAllowed ? AUTHORIZED : [403, 'forbidden'],
      );
      expect(await outcomeOf(browsers.operator, endpoint, 'org-missing')).toEqual([404, 'not_found']);
    });
  });
});
