import { allEndpoints, permissions, type Endpoint, type Permission } from '@gateway/dashboard-contract';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

const ROLES = ['member', 'billing', 'developer', 'admin', 'owner', 'operator'] as const;
type Role = (typeof ROLES)[number];

const EVERYONE = ROLES;
const DEVELOPERS = ['developer', 'admin', 'owner', 'operator'] as const;
const BILLING = ['billing', 'admin', 'owner', 'operator'] as const;
const ADMINS = ['admin', 'owner', 'operator'] as const;
const OWNERS = ['owner', 'operator'] as const;
const OPERATORS = ['operator'] as const;

/** The roles with each permission, written independently of the code. */
const ROLES_WITH: Readonly<Record<Permission, readonly Role[]>> = {
  'organization:read': EVERYONE,
  'organization:limits': ADMINS,
  'organization:targets': ADMINS,
  'organization:security': OWNERS,
  // Operators have it as members of the organization only.
  'content_log:manage': ['owner'],
  'members:read': EVERYONE,
  'members:manage': ADMINS,
  'members:manage_owners': OWNERS,
  'keys:read': EVERYONE,
  'keys:manage_own': DEVELOPERS,
  'keys:manage': ADMINS,
  'usage:read': EVERYONE,
  'credit:read': EVERYONE,
  'credit:alerts': BILLING,
  'audit:read': ADMINS,
  'playground:use': DEVELOPERS,
  'management_tokens:manage': ADMINS,
  'platform:organizations': OPERATORS,
  'platform:credit': OPERATORS,
  'platform:single_sign_on': OPERATORS,
  'platform:people': OPERATORS,
  'platform:audit': OPERATORS,
  'platform:models': OPERATORS,
  'platform:catalogue': OPERATORS,
  'platform:settlement': OPERATORS,
  'platform:notifications': OPERATORS,
  'platform:management_tokens': OPERATORS,
};

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

  it('is tested for every permission', () => {
    expect(Object.keys(ROLES_WITH).sort()).toEqual(Object.keys(permissions).sort());
  });

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

    it.each(ROLES)('allows exactly the roles with the permission: %s', async (role) => {
      const isAllowed =
        access === 'signed_in' || access === 'authenticated' || ROLES_WITH[access].includes(role);
      expect(await outcomeOf(browsers[role], endpoint, ownId)).toEqual(
        isAllowed ? AUTHORIZED : [403, 'forbidden'],
      );
    });

    if (access === 'signed_in' || access === 'authenticated' || !endpoint.path.includes('{organization_id}'))
      return;

    it.each(ROLES.filter((role) => role !== 'operator'))(
      'does not reveal to a %s whether another organization exists',
      async (role) => {
        const foreign = await send(browsers[role], endpoint, foreignId);
        const absent = await send(browsers[role], endpoint, 'org-missing');
        const expected = access.startsWith('platform:') ? [403, 'forbidden'] : [404, 'not_found'];
        expect([foreign.status, foreign.error.code]).toEqual(expected);
        expect([absent.status, absent.error]).toEqual([foreign.status, foreign.error]);
      },
    );

    it('allows operators what their role may in every organization, and returns 404 for a missing one', async () => {
      const isAllowed = ROLES_WITH[access].includes('operator');
      expect(await outcomeOf(browsers.operator, endpoint, foreignId)).toEqual(
        isAllowed ? AUTHORIZED : [403, 'forbidden'],
      );
      expect(await outcomeOf(browsers.operator, endpoint, 'org-missing')).toEqual([404, 'not_found']);
    });
  });
});
