import type { AdminClient } from '@gateway/admin-calls';
import { MemberRole } from '@gateway/contracts/auth';
import { endpoints } from '@gateway/dashboard-contract';
import type { PoolClient } from 'pg';
import { createRaceFixture, wasAccepted, type Person, type RaceFixture } from '../testing/races';

const { MEMBER_ROLE_MEMBER: MEMBER, MEMBER_ROLE_OPERATOR: OPERATOR } = MemberRole;
const { people } = endpoints;

let fixture: RaceFixture;
let organizationId: string;

beforeAll(async () => {
  fixture = await createRaceFixture();
  organizationId = (await fixture.organization()).id;
});
afterAll(() => fixture.stop());
beforeEach(() => map(fixture.endpoints, 'mapped.example'));

const map = (client: AdminClient, domain: string) =>
  client.call(people.mapDomain, {
    params: { organization_id: organizationId, domain },
    body: { role: 'admin' },
  });

/** A change that gives a right which outlives it. Each row is a kind of it, and acts for a person on another one. */
type Grant = (actor: Person, other: Person) => Promise<boolean>;
type Loss = (database: PoolClient, actor: Person) => Promise<unknown>;

const endpointsAs = (actor: Person) => fixture.endpointsAs(actor);
const ofOrganization: Record<string, Grant> = {
  'invite an owner': (actor) =>
    wasAccepted(
      endpointsAs(actor).call(people.invite, {
        params: { organization_id: organizationId },
        body: { email: 'friend@example.com', role: 'owner' },
      }),
    ),
  'make another person an owner': (actor, { id: memberId }) =>
    wasAccepted(
      endpointsAs(actor).call(people.setMemberRole, {
        params: { organization_id: organizationId, member_id: memberId },
        body: { role: 'owner' },
      }),
    ),
  'remove another person': (actor, { id: memberId }) =>
    wasAccepted(
      endpointsAs(actor).call(people.removeMember, {
        params: { organization_id: organizationId, member_id: memberId },
        body: {},
      }),
    ),
  'create a management token': (actor) => fixture.createToken(actor, organizationId),
  'create a key': (actor) => wasAccepted(fixture.createKey(organizationId, undefined, endpointsAs(actor))),
};
const ofPlatform: Record<string, Grant> = {
  'make another person an operator': (actor, { id: memberId }) =>
    wasAccepted(
      endpointsAs(actor).call(people.setOperator, {
        params: { member_id: memberId },
        body: { operator: true },
      }),
    ),
  'disable another person': (actor, { id: memberId }) =>
    wasAccepted(
      endpointsAs(actor).call(people.setDisabled, {
        params: { member_id: memberId },
        body: { disabled: true },
      }),
    ),
  'map a domain': (actor) => wasAccepted(map(endpointsAs(actor), 'lost.example')),
  'unmap a domain': (actor) =>
    wasAccepted(
      endpointsAs(actor).call(people.unmapDomain, {
        params: { organization_id: organizationId, domain: 'mapped.example' },
        body: {},
      }),
    ),
  'create a management token of the platform': (actor) => fixture.createToken(actor, undefined),
  ...ofOrganization,
};

const disabled: Loss = (database, { id }) =>
  database.query('update members set disabled_at = now() where id = $1', [id]);
const asOwner: Record<string, Loss> = {
  'are demoted': (database, { id }) =>
    database.query(`update memberships set role = 'billing' where member_id = $1`, [id]),
  'are removed': (database, { id }) => database.query('delete from memberships where member_id = $1', [id]),
  'are disabled': disabled,
};
const asOperator: Record<string, Loss> = {
  'are demoted': (database, { id }) =>
    database.query(`update members set role = 'member' where id = $1`, [id]),
  'are disabled': disabled,
};

const pairsOf = (grants: Record<string, Grant>, losses: Record<string, Loss>) =>
  Object.entries(losses).flatMap(([lost, lose]) =>
    Object.entries(grants).map(([granted, grant]): [string, string, Loss, Grant] => [
      lost,
      granted,
      lose,
      grant,
    ]),
  );

async function expectRefused(actor: Person, other: Person, lose: Loss, grant: Grant): Promise<void> {
  const meanwhile = (database: PoolClient) => lose(database, actor);
  expect(await fixture.race(organizationId, [() => grant(actor, other)], meanwhile)).toEqual([false]);
}

describe('owners', () => {
  it.each(pairsOf(ofOrganization, asOwner))(
    'who %s meanwhile do not %s',
    async (_lost, _granted, lose, grant) => {
      const owner = await fixture.person(MEMBER, { organizationId, role: 'owner' });
      const other = await fixture.person(MEMBER, { organizationId, role: 'admin' });
      await expectRefused(owner, other, lose, grant);
    },
  );
});

describe('operators', () => {
  it.each(pairsOf(ofPlatform, asOperator))(
    'who %s meanwhile do not %s',
    async (_lost, _granted, lose, grant) => {
      const operator = await fixture.person(OPERATOR);
      const other = await fixture.person(MEMBER, { organizationId, role: 'admin' });
      await expectRefused(operator, other, lose, grant);
    },
  );
});

it.each(Object.entries(ofPlatform))('an operator who keeps the role can %s', async (_name, grant) => {
  const operator = await fixture.person(OPERATOR);
  const other = await fixture.person(MEMBER, { organizationId, role: 'admin' });
  expect(await fixture.race(organizationId, [() => grant(operator, other)])).toEqual([true]);
});
