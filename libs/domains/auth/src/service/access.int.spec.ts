import type { ActingPerson } from '@gateway/actors';
import { MemberRole, type Actor } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import { createTestClock } from '@gateway/test-support';
import { codeOf, createAuthFixture, limitsBody, type AuthFixture } from '../testing/auth-under-test';

const PASSWORD = 'correct horse battery';
const [FORBIDDEN, NOT_FOUND, CONFLICT] = ['forbidden', 'not_found', 'conflict'];
const { people: ofPeople, organizations, projects } = endpoints;

describe('roles in organizations', () => {
  let fixture: AuthFixture;
  let ownId: string;
  let foreignId: string;
  const actors: Record<string, Actor> = {};
  const clock = createTestClock();

  beforeAll(async () => {
    fixture = await createAuthFixture({ clock });
    ownId = (await fixture.organization('Own')).id;
    foreignId = (await fixture.organization('Foreign')).id;
    for (const role of ['member', 'admin', 'owner']) actors[role] = await person(role, { [ownId]: role });
    const operator = await fixture.member('operator@example.com', PASSWORD);
    actors['operator'] = { id: operator.member?.id ?? '', label: 'operator', ipAddress: '' };
  });
  afterAll(() => fixture.stop());

  let people = 0;
  async function person(name: string, roles: Record<string, string> = {}): Promise<Actor> {
    const label = `${name}-${(people += 1)}@example.com`;
    const wanted = { email: label, password: PASSWORD, resetPassword: false };
    const { member } = await fixture.admin.ensureMember({ ...wanted, role: MemberRole.MEMBER_ROLE_MEMBER });
    for (const [organizationId, role] of Object.entries(roles)) {
      await fixture.pool.query('insert into memberships values ($1, $2, $3, now())', [
        organizationId,
        member?.id,
        role,
      ]);
    }
    return { id: member?.id ?? '', label, ipAddress: '192.0.2.1' };
  }

  const actorNamed = (name: string): Actor => actors[name] ?? { id: name, label: name, ipAddress: '' };
  const inOrganization = (id: string) => ({ params: { organization_id: id } });
  const ofMember = (organizationId: string, memberId: string) => ({
    params: { organization_id: organizationId, member_id: memberId },
  });

  const setRole = (actor: Actor, organizationId: string, memberId: string, role: 'admin' | 'owner') =>
    fixture
      .endpointsAs(actor)
      .call(ofPeople.setMemberRole, { ...ofMember(organizationId, memberId), body: { role } });
  const remove = (actor: Actor, organizationId: string, memberId: string) =>
    fixture
      .endpointsAs(actor)
      .call(ofPeople.removeMember, { ...ofMember(organizationId, memberId), body: {} });
  const setOperator = (actor: Partial<ActingPerson>, memberId: string, operator: boolean) =>
    fixture
      .endpointsAs(actor)
      .call(ofPeople.setOperator, { params: { member_id: memberId }, body: { operator } });

  /** Each change returns the reason for its refusal, or undefined. */
  const changes: Record<string, (actor: Actor, organizationId: string) => Promise<string | undefined>> = {
    createKey: async (actor, organizationId) =>
      codeOf(fixture.createKey(organizationId, undefined, fixture.endpointsAs(actor))),
    updateKey: async (actor, organizationId) => {
      const { id: keyId } = await fixture.key(organizationId);
      return codeOf(fixture.updateKey(organizationId, keyId, { name: 'new' }, fixture.endpointsAs(actor)));
    },
    revokeKey: async (actor, organizationId) => {
      const { id: keyId } = await fixture.key(organizationId);
      return codeOf(fixture.revokeKey(organizationId, keyId, fixture.endpointsAs(actor)));
    },
    setOrganizationLimits: async (actor, organizationId) =>
      codeOf(fixture.setLimits(organizationId, {}, fixture.endpointsAs(actor))),
    setOrganizationCeilings: async (actor, organizationId) =>
      codeOf(
        fixture
          .endpointsAs(actor)
          .call(organizations.setCeilings, { ...inOrganization(organizationId), body: limitsBody({}) }),
      ),
    setOrganizationSuspended: async (actor, organizationId) =>
      codeOf(
        fixture
          .endpointsAs(actor)
          .call(organizations.resume, { ...inOrganization(organizationId), body: {} }),
      ),
    createProject: async (actor, organizationId) =>
      codeOf(
        fixture
          .endpointsAs(actor)
          .call(projects.create, { ...inOrganization(organizationId), body: { name: 'P' } }),
      ),
    updateProject: async (actor, organizationId) => {
      const { id: projectId } = await fixture.project(organizationId);
      const client = fixture.endpointsAs(actor);
      return codeOf(fixture.updateProject(organizationId, projectId, { name: 'New' }, client));
    },
    archiveProject: async (actor, organizationId) => {
      const { id: projectId } = await fixture.project(organizationId);
      return codeOf(fixture.archiveProject(organizationId, projectId, fixture.endpointsAs(actor)));
    },
    createOrganization: async (actor) =>
      codeOf(fixture.endpointsAs(actor).call(organizations.create, { body: { name: 'New' } })),
    setOrganizationRole: async (actor, organizationId) => {
      const { id: memberId } = await person('another', { [organizationId]: 'member' });
      return codeOf(setRole(actor, organizationId, memberId, 'admin'));
    },
    removeOrganizationMember: async (actor, organizationId) => {
      const { id: memberId } = await person('another', { [organizationId]: 'member' });
      return codeOf(remove(actor, organizationId, memberId));
    },
    setOperator: async (actor) => {
      const { id: memberId } = await person('another');
      return codeOf(setOperator(actor, memberId, true));
    },
  };
  const forOperators = [
    'setOrganizationCeilings',
    'setOrganizationSuspended',
    'createOrganization',
    'setOperator',
  ];

  it.each(Object.keys(changes))('are enforced by %s', async (name) => {
    const change = changes[name] as (typeof changes)[string];
    const managers = forOperators.includes(name) ? FORBIDDEN : undefined;
    expect(await change(actorNamed('member'), ownId)).toBe(FORBIDDEN);
    expect(await change(actorNamed('admin'), ownId)).toBe(managers);
    expect(await change(actorNamed('owner'), ownId)).toBe(managers);
    expect(await change(actorNamed('operator'), ownId)).toBeUndefined();
    expect(await change(actorNamed('mem-unknown'), ownId)).toBe(FORBIDDEN);
    const foreign = forOperators.includes(name) ? FORBIDDEN : NOT_FOUND;
    expect(await change(actorNamed('owner'), foreignId)).toBe(foreign);
  });

  const authorize = async (name: string, access: string, organizationId?: string) => {
    const email = actorNamed(name).label.includes('@') ? actorNamed(name).label : 'operator@example.com';
    const { session_token: token } = await fixture.signIn(email, PASSWORD);
    return fixture.accessOf(token, access, organizationId);
  };

  it('cannot tell an organization of others from one that does not exist', async () => {
    expect(await authorize('owner', 'keys:read', foreignId)).toBe('not_found');
    expect(await authorize('owner', 'keys:read', 'org-none')).toBe('not_found');
    expect(await authorize('member', 'keys:manage', ownId)).toBe('forbidden');
    expect(await authorize('member', 'keys:read', ownId)).toBe('allowed');
    expect(await authorize('member', 'signed_in')).toBe('allowed');
    expect(await authorize('operator', 'keys:manage', foreignId)).toBe('allowed');
    expect(await authorize('operator', 'keys:manage', 'org-none')).toBe('not_found');
    expect(await authorize('owner', 'platform:audit')).toBe('forbidden');
    await expect(authorize('operator', 'keys:everything', ownId)).rejects.toMatchObject({ param: 'access' });
    await expect(authorize('operator', '', ownId)).rejects.toMatchObject({ param: 'access' });
  });

  it('let members list their own organizations, and operators all', async () => {
    const list = async (actor: Actor) => {
      const page = await fixture.endpointsAs(actor).call(organizations.list, { query: {} });
      return page.data.map(({ name }) => name).sort();
    };
    expect(await list(actorNamed('member'))).toEqual(['Own']);
    expect(await list(actorNamed('operator'))).toEqual(expect.arrayContaining(['Own', 'Foreign']));
    const foreign = fixture
      .endpointsAs(actorNamed('owner'))
      .call(organizations.get, inOrganization(foreignId));
    expect(await codeOf(foreign)).toBe(NOT_FOUND);
  });

  describe('owners', () => {
    it('are promoted and demoted by owners only', async () => {
      const { id: organizationId } = await fixture.organization('Owners');
      const owner = await person('owner', { [organizationId]: 'owner' });
      const admin = await person('admin', { [organizationId]: 'admin' });
      expect(await codeOf(setRole(admin, organizationId, admin.id, 'owner'))).toBe(FORBIDDEN);
      expect(await codeOf(setRole(admin, organizationId, owner.id, 'admin'))).toBe(FORBIDDEN);
      expect(await codeOf(remove(admin, organizationId, owner.id))).toBe(FORBIDDEN);
      expect(await codeOf(setRole(owner, organizationId, admin.id, 'owner'))).toBeUndefined();
    });

    it('never leave an organization without one, even when they leave concurrently', async () => {
      const { id: organizationId } = await fixture.organization('Leaving');
      const both = [
        await person('one', { [organizationId]: 'owner' }),
        await person('two', { [organizationId]: 'owner' }),
      ];
      const removals = await Promise.all(
        both.map((actor) => codeOf(remove(actor, organizationId, actor.id))),
      );
      expect(removals.sort()).toEqual([CONFLICT, undefined]);
      const { data: members } = await fixture.endpoints.call(ofPeople.members, {
        ...{ params: { organization_id: organizationId }, query: {} },
      });
      expect(members.map(({ role }) => role)).toEqual(['owner']);
    });
  });

  it('audits role changes with their actor, before and after', async () => {
    const { id: organizationId } = await fixture.organization('Audited');
    const owner = await person('owner', { [organizationId]: 'owner' });
    const { id: memberId } = await person('promoted', { [organizationId]: 'member' });
    await setRole(owner, organizationId, memberId, 'admin');
    const { entries } = await fixture.auditLog.listAudit({
      organizationId,
      action: 'membership.',
      pageSize: 0,
      pageToken: '',
    });
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ action: 'membership.set_role', target: memberId, actor: owner });
    expect(JSON.parse(entries[0]?.detailsJson ?? '')).toMatchObject({
      changed: { role: { before: 'member', after: 'admin' } },
    });
  });

  it('apply from the next request on, and a demoted operator has to sign in again', async () => {
    const former = await fixture.member('former@example.com', PASSWORD);
    const { session_token: sessionToken } = await fixture.signIn('former@example.com', PASSWORD);
    const memberId = former.member?.id ?? '';
    const { session_id: sessionId } = await fixture.personOfSession(sessionToken);
    const self = { id: memberId, label: '', ipAddress: '', sessionId };
    expect(await codeOf(setOperator(self, memberId, false))).toBe(CONFLICT);
    await setOperator(actorNamed('operator'), memberId, false);
    expect(await fixture.isSignedIn(sessionToken)).toBe(false);
    expect(await changes['createOrganization']?.(self, '')).toBe(FORBIDDEN);
  });
});
