import { allEndpoints, permissions, type Endpoint, type Permission } from '@gateway/dashboard-contract';
import {
  createBrowser,
  createDashboardFixture,
  OPERATOR,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/** Who may what, once more and written by hand: the least role that may. Operators may everything. */
const LEAST_ROLE: Readonly<Record<Permission, 'member' | 'admin' | 'owner' | 'operator'>> = {
  'organization:read': 'member',
  'organization:limits': 'admin',
  'members:read': 'member',
  'members:manage': 'admin',
  'members:manage_owners': 'owner',
  'keys:read': 'member',
  'keys:manage': 'admin',
  'usage:read': 'member',
  'credit:read': 'member',
  'credit:alerts': 'admin',
  'audit:read': 'admin',
  'playground:use': 'admin',
  'platform:organizations': 'operator',
  'platform:credit': 'operator',
  'platform:people': 'operator',
  'platform:audit': 'operator',
  'platform:models': 'operator',
  'platform:settlement': 'operator',
};
const RANKS = ['member', 'admin', 'owner', 'operator'] as const;

/**
 * Refused by every endpoint that lets its caller in, before anything is done: no endpoint has such a
 * field.
 */
const NONSENSE = 'no_such_field';

const endpoints = allEndpoints().map(
  (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const,
);

describe('who may ask what', () => {
  let fixture: DashboardFixture;
  let ownId: string;
  let foreignId: string;
  const browsers = {} as Record<(typeof RANKS)[number] | 'nobody', Browser>;

  beforeAll(async () => {
    fixture = await createDashboardFixture();
    browsers.operator = await fixture.signedIn(OPERATOR.email);
    const create = async (name: string) => {
      const { json } = await browsers.operator.ask('POST /api/organizations', { name });
      return (json as { organization: { id: string } }).organization.id;
    };
    [ownId, foreignId] = [await create('Own'), await create('Foreign')];
    for (const role of ['member', 'admin', 'owner'] as const) {
      await fixture.person(`${role}@example.com`, { [ownId]: role });
      browsers[role] = await fixture.signedIn(`${role}@example.com`);
    }
    browsers.nobody = createBrowser(fixture.api.port());
  });
  afterAll(() => fixture.stop());

  function ask(browser: Browser, { method, path }: Endpoint, organizationId: string) {
    const filled = path.replace('{organization_id}', organizationId).replace(/\{\w+\}/g, 'some-id');
    if (method === 'GET') return browser.ask(`${method} ${filled}?${NONSENSE}=1`);
    return browser.ask(`${method} ${filled}`, { [NONSENSE]: true });
  }

  const LET_IN = [400, 'invalid'];
  const outcomeOf = async (browser: Browser, endpoint: Endpoint, organizationId: string) => {
    const { status, error } = await ask(browser, endpoint, organizationId);
    return [status, error.code];
  };

  it('is written down for every permission there is', () => {
    expect(Object.keys(LEAST_ROLE).sort()).toEqual(Object.keys(permissions).sort());
  });

  describe.each(endpoints)('%s', (_line, endpoint) => {
    const { access } = endpoint;
    if (access === 'anyone') {
      it('is for anybody', async () => {
        const outcome = await outcomeOf(browsers.nobody, endpoint, ownId);
        // A provider of single sign-on may send what it likes.
        if (endpoint.response.kind !== 'redirect') expect(outcome).toEqual(LET_IN);
        else expect([401, 403]).not.toContain(outcome[0]);
      });
      return;
    }

    it('is for nobody who is not signed in', async () => {
      expect(await outcomeOf(browsers.nobody, endpoint, ownId)).toEqual([401, 'not_signed_in']);
    });

    it.each(RANKS)('lets the role in that may, and no other: %s', async (role) => {
      const may = access === 'signed_in' || RANKS.indexOf(role) >= RANKS.indexOf(LEAST_ROLE[access]);
      expect(await outcomeOf(browsers[role], endpoint, ownId)).toEqual(may ? LET_IN : [403, 'forbidden']);
    });

    if (access === 'signed_in' || !endpoint.path.includes('{organization_id}')) return;

    it.each(['member', 'admin', 'owner'] as const)(
      'tells no %s of another organization whether there is one',
      async (role) => {
        const foreign = await ask(browsers[role], endpoint, foreignId);
        const absent = await ask(browsers[role], endpoint, 'org-that-is-not');
        const expected = access.startsWith('platform:') ? [403, 'forbidden'] : [404, 'not_found'];
        expect([foreign.status, foreign.error.code]).toEqual(expected);
        expect([absent.status, absent.error]).toEqual([foreign.status, foreign.error]);
      },
    );

    it('lets operators in everywhere, and tells them of what is not there', async () => {
      expect(await outcomeOf(browsers.operator, endpoint, foreignId)).toEqual(LET_IN);
      expect(await outcomeOf(browsers.operator, endpoint, 'org-that-is-not')).toEqual([404, 'not_found']);
    });
  });
});
