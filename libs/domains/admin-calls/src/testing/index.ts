import type { ActingPerson, ActingToken, CallActor } from '@gateway/actors';
import { hasPermission, ORGANIZATION_ROLES, type OrganizationRole } from '@gateway/base';
import {
  allEndpoints,
  allParts,
  isPermission,
  isPlatformPermission,
  managementTokenAccessOf,
  nameOf,
  namesIn,
  type Endpoint,
  type Owner,
} from '@gateway/dashboard-contract';
import { createInProcessTransport, RpcError, type BoundService } from '@gateway/rpc';
import { inProcessFor, TEST_OPERATOR } from '@gateway/test-support';
import { createAdminClient } from '../admin-client';
import { implement, type Implementation } from '../implement';

const MEMBER: ActingPerson = {
  ...TEST_OPERATOR,
  id: 'mem-1',
  label: 'ada@example.com',
  memberRole: 'member',
};
const { sessionId: _none, ...FIELDS } = TEST_OPERATOR;
const TOKEN: ActingToken = { ...FIELDS, id: 'mtk-1', tokenAccess: 'read_write' };
const ORGANIZATION = 'org-1';

const inOrganization = <Actor extends CallActor>(
  actor: Actor,
  role?: OrganizationRole,
  id = ORGANIZATION,
) => ({
  ...actor,
  organization: { id, ...(role && { role }) },
});

/** The actors that the endpoint refuses, by what they lack. */
function refusedBy(endpoint: Endpoint): Readonly<Record<string, CallActor>> {
  const { access } = endpoint;
  const noToken = managementTokenAccessOf(endpoint) === undefined;
  const reader: ActingToken = { ...TOKEN, tokenAccess: 'read' };
  const tokens = {
    ...(noToken && { 'a token': inOrganization(TOKEN, 'owner') }),
    ...(noToken || endpoint.method !== 'GET'
      ? { 'a token that only reads': inOrganization(reader, 'owner') }
      : {}),
  };
  if (!isPermission(access)) return access === 'signed_in' ? tokens : {};
  if (isPlatformPermission(access)) return { ...tokens, 'an owner': inOrganization(MEMBER, 'owner') };
  const without = ORGANIZATION_ROLES.filter(
    (organizationRole) => !hasPermission({ memberRole: 'member', organizationRole }, access),
  );
  return {
    ...tokens,
    ...Object.fromEntries(
      without.map((role) => [`a person with the role ${role}`, inOrganization(MEMBER, role)]),
    ),
    'a person without a role': inOrganization(MEMBER),
    'an owner of another organization': inOrganization(MEMBER, 'owner', 'org-2'),
    'an operator who acts in another organization': inOrganization(TEST_OPERATOR, 'owner', 'org-2'),
  };
}

/** For each of the endpoints, an implementation that fails. */
export function stubsOf(endpoints: readonly Endpoint[]): readonly Implementation[] {
  return endpoints.map((endpoint) =>
    implement(endpoint, () => Promise.reject(new Error(`${nameOf(endpoint)} is a stub`))),
  );
}

/** Each endpoint refuses everyone but those who have its access, before its handler runs. */
export function describeAccessOfEndpoints(owner: Owner, services: () => readonly BoundService[]): void {
  const owned = [...allEndpoints(), ...allParts()].filter((endpoint) => endpoint.owner === owner);
  const refusalOf = async (endpoint: Endpoint, transport: Parameters<typeof createAdminClient>[0]) => {
    const params = Object.fromEntries(
      namesIn(endpoint.path).map((name) => [name, name === 'organization_id' ? ORGANIZATION : 'x']),
    );
    return createAdminClient(transport)
      .forward(endpoint, { params })
      .then(
        () => 'admitted',
        (error: unknown) => (error instanceof RpcError ? error.failure : 'admitted'),
      );
  };

  describe.each(owned.map((endpoint) => [nameOf(endpoint), endpoint] as const))('%s', (_name, endpoint) => {
    if (endpoint.access !== 'anyone') {
      it('refuses a call without a person', async () => {
        const transport = createInProcessTransport(services());
        expect(await refusalOf(endpoint, transport)).toBe('unauthenticated');
      });
    }

    it('refuses every actor without its access, and admits an operator who owns the organization', async () => {
      for (const [who, actor] of Object.entries(refusedBy(endpoint))) {
        const outcome = await refusalOf(
          endpoint,
          inProcessFor(services(), () => actor),
        );
        expect({ who, outcome }).toEqual({ who, outcome: 'permission_denied' });
      }
      const admitted = inOrganization(TEST_OPERATOR, 'owner');
      expect(
        await refusalOf(
          endpoint,
          inProcessFor(services(), () => admitted),
        ),
      ).toBe('admitted');
    });
  });
}
