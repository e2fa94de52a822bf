import type { Implementation } from '@gateway/admin-calls';
import { allEndpoints, allParts, isPermission, nameOf, type Endpoint } from '@gateway/dashboard-contract';
import { TEST_OPERATOR } from '@gateway/test-support';
import { withCurrentAccess } from './current-access';

const owned = [...allEndpoints(), ...allParts()].filter(({ owner }) => owner === 'auth');

/** Calls the endpoint for an operator, as the assertion says. */
async function call(endpoint: Endpoint, inDatabase: object): Promise<unknown> {
  const ports = {
    members: { find: async () => undefined },
    memberships: { find: async () => ({ exists: true, role: undefined }) },
    sessions: { findConfirmation: async () => undefined },
    clock: { now: () => 600_000 },
    ...inDatabase,
  } as unknown as Parameters<typeof withCurrentAccess>[0];
  const implementation: Implementation = { endpoint, handler: async () => 'handled' };
  const input = { params: { organization_id: 'org-1' }, actor: TEST_OPERATOR };
  return withCurrentAccess(ports, implementation)
    .handler(input as never)
    .catch(({ code }: { code: string }) => code);
}

const operator = { members: { find: async () => ({ ...TEST_OPERATOR, role: 'operator' }) } };
const member = { members: { find: async () => ({ ...TEST_OPERATOR, role: 'member' }) } };

it.each(owned.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  '%s is handled only with the access that the database grants now',
  async (_name, endpoint) => {
    const { access, confirmed } = endpoint;
    if (!isPermission(access)) return expect(await call(endpoint, {})).toBe('handled');
    expect(await call(endpoint, {})).toBe('forbidden');
    expect(['forbidden', 'not_found']).toContain(await call(endpoint, member));
    expect(await call(endpoint, operator)).toBe(confirmed ? 'confirmation_required' : 'handled');
    const justNow = { sessions: { findConfirmation: async () => 590_000 } };
    return expect(await call(endpoint, { ...operator, ...justNow })).toBe('handled');
  },
);
