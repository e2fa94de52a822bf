import { MemberRole } from '@gateway/contracts/auth';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { keyBody } from '../testing/auth-under-test';
import { createRaceFixture, wasAccepted, type Person, type RaceFixture } from '../testing/races';

/** Whether the change was accepted. */
type Change = (actor: Person, target: Person) => Promise<boolean>;

const { people } = endpoints;

let fixture: RaceFixture;
let peopleCount = 0;
let organizationId: string;

beforeAll(async () => {
  fixture = await createRaceFixture();
});
afterAll(() => fixture.stop());

const person = (role: MemberRole, organizationRole?: string) =>
  fixture.person(
    role,
    organizationRole === undefined ? undefined : { organizationId, role: organizationRole },
  );
const inOrganization = () => ({ params: { organization_id: organizationId } });
const ofMember = (memberId: string) => ({
  params: { organization_id: organizationId, member_id: memberId },
});
const race = (changes: readonly (() => Promise<boolean>)[]) => fixture.race(organizationId, changes);

/** Every combination of two changes, a change with itself included. */
function pairsOf(changes: Readonly<Record<string, Change>>): [string, string, Change, Change][] {
  const all = Object.entries(changes);
  return all.flatMap(([one, first], index) =>
    all.slice(index).map(([other, second]): [string, string, Change, Change] => [one, other, first, second]),
  );
}

async function auditedActions(target: string): Promise<string[]> {
  const { rows } = await fixture.pool.query<{ action: string }>(
    'select action from audit_entries where target = $1 order by id',
    [target],
  );
  return rows.map(({ action }) => action);
}

describe('operators', () => {
  const setOperator =
    (operator: boolean): Change =>
    (actor, { id: memberId }) =>
      wasAccepted(
        fixture
          .endpointsAs(actor)
          .call(people.setOperator, { params: { member_id: memberId }, body: { operator } }),
      );
  const setDisabled =
    (disabled: boolean): Change =>
    (actor, { id: memberId }) =>
      wasAccepted(
        fixture
          .endpointsAs(actor)
          .call(people.setDisabled, { params: { member_id: memberId }, body: { disabled } }),
      );
  const changes = { 'be demoted': setOperator(false), 'be disabled': setDisabled(true) };
  const opposites = { 'be promoted': setOperator(true), 'be enabled': setDisabled(false) };
  const OPERATOR = MemberRole.MEMBER_ROLE_OPERATOR;

  beforeAll(async () => {
    organizationId = (await fixture.organization('Of operators')).id;
  });

  const remaining = async (...of: Person[]) => {
    const { rows } = await fixture.pool.query<{ id: string }>(
      `select id from members where role = 'operator' and disabled_at is null and id = any ($1)`,
      [of.map(({ id }) => id)],
    );
    return rows.length;
  };

  it.each(pairsOf(changes))(
    'cannot %s and %s by each other at once: one is left',
    async (_one, _other, first, second) => {
      const [one, other] = [await person(OPERATOR), await person(OPERATOR)];
      const accepted = await race([() => first(one, other), () => second(other, one)]);
      expect(accepted.sort()).toEqual([false, true]);
      expect(await remaining(one, other)).toBe(1);
    },
  );

  it.each(pairsOf(changes))(
    'cannot %s and %s in a circle: one is left',
    async (_one, _other, first, second) => {
      const circle = [await person(OPERATOR), await person(OPERATOR), await person(OPERATOR)];
      const accepted = await race(
        circle.map((actor, index) => () => {
          const change = index === 0 ? first : second;
          return change(actor, circle[(index + 1) % circle.length] as Person);
        }),
      );
      expect(accepted).toContain(true);
      expect(await remaining(...circle)).toBeGreaterThanOrEqual(1);
    },
  );

  it.each(pairsOf({ ...changes, ...opposites }))(
    'who %s and %s by two others at once end as if one came after the other',
    async (one, other, first, second) => {
      const [a, b, target] = [await person(OPERATOR), await person(OPERATOR), await person(OPERATOR)];
      const before = await auditedActions(target.id);
      expect(await race([() => first(a, target), () => second(b, target)])).toEqual([true, true]);
      const written = (await auditedActions(target.id)).slice(before.length);
      // A change that finds its result already there writes nothing.
      if (one === other) expect(written).toHaveLength(one in changes ? 1 : 0);
      expect(await remaining(a, b)).toBe(2);
    },
  );
});

describe('owners', () => {
  const setRole =
    (role: 'admin' | 'owner'): Change =>
    (actor, { id: memberId }) =>
      wasAccepted(
        fixture.endpointsAs(actor).call(people.setMemberRole, { ...ofMember(memberId), body: { role } }),
      );
  const changes: Record<string, Change> = {
    'be demoted': setRole('admin'),
    'be removed': (actor, { id: memberId }) =>
      wasAccepted(fixture.endpointsAs(actor).call(people.removeMember, { ...ofMember(memberId), body: {} })),
  };
  const leave: Change = (actor) =>
    wasAccepted(fixture.endpointsAs(actor).call(people.leave, { ...inOrganization(), body: {} }));
  const owner = () => person(MemberRole.MEMBER_ROLE_MEMBER, 'owner');
  const owners = async () => {
    const { rows } = await fixture.pool.query(
      `select from memberships where organization_id = $1 and role = 'owner'`,
      [organizationId],
    );
    return rows.length;
  };

  beforeEach(async () => {
    organizationId = (await fixture.organization('Of owners')).id;
  });

  it.each(pairsOf({ ...changes, leave }))(
    'cannot %s and %s by each other at once: one is left',
    async (_one, _other, first, second) => {
      const [one, other] = [await owner(), await owner()];
      const accepted = await race([() => first(one, other), () => second(other, one)]);
      expect(accepted).toContain(true);
      expect(await owners()).toBe(1);
    },
  );

  it.each(pairsOf(changes))(
    'cannot %s and %s by each other at once while there is a third: who was first, wins',
    async (_one, _other, first, second) => {
      const [one, other] = [await owner(), await owner(), await owner()];
      const accepted = await race([() => first(one, other), () => second(other, one)]);
      expect(accepted.sort()).toEqual([false, true]);
      expect(await owners()).toBe(2);
    },
  );

  it.each(Object.entries(changes))(
    'who %s cannot promote another person at the same time and after it',
    async (_name, change) => {
      const [one, other] = [await owner(), await owner()];
      const candidate = await person(MemberRole.MEMBER_ROLE_MEMBER, 'member');
      const [, promoted] = await race([() => change(one, other), () => setRole('owner')(other, candidate)]);
      expect(await owners()).toBe(promoted ? 2 : 1);
    },
  );
});

describe('two changes at once that exclude each other', () => {
  beforeEach(async () => {
    organizationId = (await fixture.organization('Of races')).id;
    peopleCount += 1;
  });

  async function invite(email: string): Promise<{ token: string; id: string } | undefined> {
    const wanted = { ...inOrganization(), body: { email, role: 'admin' as const } };
    const created = await fixture.endpoints.call(people.invite, wanted).catch((error: unknown) => {
      if (error instanceof DashboardError) return undefined;
      throw error;
    });
    return created && { token: created.link.split('#')[1] ?? '', id: created.invitation.id };
  }
  const invited = async () => (await invite(`invited-${peopleCount}@example.com`)) ?? { token: '', id: '' };
  const accept = (token: string) => {
    const body = { token, password: 'another horse battery' };
    return wasAccepted(fixture.withoutPerson.call(parts.acceptInvitation, { body }));
  };
  const revoke = (id: string) => {
    const params = { ...inOrganization().params, invitation_id: id };
    return wasAccepted(fixture.endpoints.call(people.revokeInvitation, { params, body: {} }));
  };
  const map = (domain: string) => {
    const params = { ...inOrganization().params, domain };
    return wasAccepted(fixture.endpoints.call(people.mapDomain, { params, body: { role: 'admin' } }));
  };
  const unmap = (domain: string) => {
    const params = { ...inOrganization().params, domain };
    return wasAccepted(fixture.endpoints.call(people.unmapDomain, { params, body: {} }));
  };
  const archive = (projectId: string) => wasAccepted(fixture.archiveProject(organizationId, projectId));
  const createKey = (projectId?: string) =>
    wasAccepted(fixture.createKey(organizationId, keyBody({}, { project_id: projectId ?? null })));
  const fill = (statement: string, ...values: unknown[]) =>
    fixture.pool.query(statement, [organizationId, ...values]);

  /** Each row prepares the two changes; exactly one of them is accepted. */
  const rows: Record<string, () => Promise<[() => Promise<boolean>, () => Promise<boolean>]>> = {
    'accepting an invitation, twice': async () => {
      const { token } = await invited();
      return [() => accept(token), () => accept(token)];
    },
    'accepting and revoking an invitation': async () => {
      const { token, id } = await invited();
      return [() => accept(token), () => revoke(id)];
    },
    'revoking an invitation, twice': async () => {
      const { id } = await invited();
      return [() => revoke(id), () => revoke(id)];
    },
    'the 1,000th open invitation, twice': async () => {
      await fill(`
        insert into invitations (id, organization_id, email, role, token_sha256, invited_by, created_at, expires_at)
        select 'inv-' || number || $1, $1, number || '@example.org', 'member', sha256((number || $1)::bytea), '', now(),
               now() + interval '1 day'
        from generate_series(1, 999) number`);
      const invitation = (email: string) => async () => (await invite(email)) !== undefined;
      return [invitation('a@example.org'), invitation('b@example.org')];
    },
    'the 50th domain, twice': async () => {
      await fill(
        `insert into organization_domains
         select 'd' || number || '-' || $2 || '.example', $1, 'member', 'test', now() from generate_series(1, 49) number`,
        peopleCount,
      );
      return [() => map(`one${peopleCount}.example`), () => map(`two${peopleCount}.example`)];
    },
    'unmapping a domain, twice': async () => {
      await map(`mapped${peopleCount}.example`);
      return [() => unmap(`mapped${peopleCount}.example`), () => unmap(`mapped${peopleCount}.example`)];
    },
    'the 50,000th key, twice': async () => {
      const { id: ownerId } = await person(MemberRole.MEMBER_ROLE_MEMBER, 'owner');
      // Its trigger would check each of them.
      await fixture.pool.query('alter table api_keys disable trigger user');
      // In batches, so that each statement ends before its timeout on a slow machine.
      for (let last = 4_999; last < 50_000; last += 5_000) {
        await fill(
          `insert into api_keys (id, organization_id, name, sha256, last4, scopes, allowed_models, ip_allowlist, created_at, owner_id)
           select 'key-' || number || $1, $1, '', sha256((number || $1)::bytea), '', '{}', '{}', '{}', now(), $2
           from generate_series($3 - 4999, $3::int) number where number > 0`,
          ownerId,
          last,
        );
      }
      await fixture.pool.query('alter table api_keys enable trigger user');
      return [() => createKey(), () => createKey()];
    },
    'the 200th project, twice': async () => {
      await fill(
        `insert into projects (id, organization_id, name, created_at)
         select 'proj-' || number || $1, $1, '', now() from generate_series(1, 199) number`,
      );
      const create = () => wasAccepted(fixture.createProject(organizationId));
      return [create, create];
    },
    'archiving a project and creating a key in it': async () => {
      const { id } = await fixture.project(organizationId);
      return [() => archive(id), () => createKey(id)];
    },
    'the 100th management token of a person, in two organizations': async () => {
      const creator = await person(MemberRole.MEMBER_ROLE_MEMBER, 'owner');
      const first = organizationId;
      organizationId = (await fixture.organization('Of the other token')).id;
      await fill(`insert into memberships values ($1, $2, 'owner', now())`, creator.id);
      await fill(
        `insert into management_tokens (id, organization_id, name, sha256, last4, role, access, created_by, created_at, expires_on)
         select 'mtk-' || number || $1, $1, '', sha256((number || $1)::bytea), '', 'admin', 'read', $2, now(), now() + interval '1 day'
         from generate_series(1, 99) number`,
        creator.id,
      );
      return [() => fixture.createToken(creator, first), () => fixture.createToken(creator, organizationId)];
    },
  };

  it.each(Object.entries(rows))('%s: one is accepted', async (_name, prepare) => {
    expect((await race(await prepare())).sort()).toEqual([false, true]);
  });

  it('inviting an email, twice: one invitation is open', async () => {
    const email = `open-${peopleCount}@example.com`;
    expect(await race([1, 2].map(() => async () => (await invite(email)) !== undefined))).toEqual([
      true,
      true,
    ]);
    const { rows: open } = await fill(
      'select from invitations where organization_id = $1 and accepted_at is null and revoked_at is null',
    );
    expect(open).toHaveLength(1);
  });

  it('mapping and unmapping a domain: the audit entries are in the order of the changes', async () => {
    const domain = `opposite${peopleCount}.example`;
    await map(domain);
    expect(await race([() => unmap(domain), () => map(domain)])).toEqual([true, true]);
    const { data: domains } = await fixture.endpoints.call(people.domains, inOrganization());
    expect(domains).toHaveLength((await auditedActions(domain)).at(-1) === 'organization.map_domain' ? 1 : 0);
  });
});
