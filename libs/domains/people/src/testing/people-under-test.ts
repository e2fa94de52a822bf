import { serveEndpoints } from '@gateway/admin-calls';
import { stubsOf } from '@gateway/admin-calls/testing';
import type { EdgeLeases, InvalidationFeed } from '@gateway/auth-shared';
import { AUTH_SCHEMA, authSchema, createAuthPrisma } from '@gateway/auth-shared/adapters';
import { Cancellation, type Clock, type MemberRole } from '@gateway/base';
import { allEndpoints, allParts } from '@gateway/dashboard-contract';
import { applyMigrations, createPool, isDatabaseUnavailable } from '@gateway/database';
import { createInProcessTransport } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId } from '@gateway/runtime';
import { createEncryptionKey } from '@gateway/secrets';
import { createTestClock, createTestDatabase, TEST_OPERATOR, unsignedActors } from '@gateway/test-support';
import { createPeopleAdapters } from '../adapters/create-adapters';
import type { PeoplePorts, PeopleSettings } from '../core/ports';
import { ensureMember } from '../core/sign-in/ensure-member';
import { createAccountEndpoints } from '../service/account-endpoints';
import { withCurrentAccess } from '../service/current-access';
import { DEFAULT_PEOPLE_SETTINGS } from '../service/environment';
import { createManagementTokenEndpoints } from '../service/management-token-endpoints';
import { createPeopleMetrics } from '../service/metrics';
import { createPeopleEndpoints } from '../service/people-endpoints';
import { createSessionEndpoints } from '../service/session-endpoints';
import { createSignInEndpoints } from '../service/sign-in-endpoints';
import { createPeopleCalls, INSERT_OPERATOR_SESSION } from './people-calls';

export const PASSWORD = 'correct horse battery';

export interface PeopleFixtureOptions extends Partial<
  Pick<PeoplePorts, 'identityProvider' | 'mailer' | 'passwords'>
> {
  readonly clock?: Clock;
  readonly settings?: Partial<PeopleSettings>;
}

/** No edge has a lease, so no change waits for one. */
const NO_EDGES = {
  leases: { unacknowledgedForMs: async () => 0 } as Partial<EdgeLeases> as EdgeLeases,
  feed: {} as InvalidationFeed,
};

/** The endpoints of this library on a database of their own. Those of the library `auth` are stubs. */
export async function createPeopleFixture({
  clock = createTestClock(),
  settings = {},
  ...ports
}: PeopleFixtureOptions = {}) {
  const database = await createTestDatabase();
  const log = createSilentLogger();
  const pool = createPool({
    url: database.url,
    schema: AUTH_SCHEMA,
    applicationName: 'people-test',
    maxConnections: 8,
  });
  await applyMigrations(pool, authSchema);
  const prisma = createAuthPrisma(pool);
  const adapters = createPeopleAdapters({
    ...{ pool, prisma, clock, log },
    scryptCost: { N: 16, r: 1, p: 1 },
    encryptionKeys: [createEncryptionKey()],
  });
  const people: PeoplePorts = {
    ...adapters,
    ...ports,
    ...NO_EDGES,
    organizations: {
      find: async (id) => (await prisma.organization.findUnique({ where: { id } })) ?? undefined,
    },
    ...{ clock, newId },
    settings: { ...DEFAULT_PEOPLE_SETTINGS, ...settings },
  };
  const own = [
    ...createPeopleEndpoints(people),
    ...createManagementTokenEndpoints(people),
    ...createSessionEndpoints(people),
    ...createSignInEndpoints(people, createPeopleMetrics(createMetrics({ processMetrics: false }))),
    ...createAccountEndpoints(people),
  ];
  const others = [...allEndpoints(), ...allParts()].filter(
    (endpoint) => endpoint.owner === 'auth' && own.every((each) => each.endpoint !== endpoint),
  );
  const endpoints = [...own, ...stubsOf(others)].map((each) => withCurrentAccess(people, each));
  const service = serveEndpoints('auth', endpoints, { isUnavailable: isDatabaseUnavailable });

  let operator = TEST_OPERATOR;
  async function member(email: string, role: MemberRole = 'member') {
    const wanted = { actor: operator, email, password: PASSWORD, role, resetPassword: false };
    return (await ensureMember(people, wanted, new Cancellation())).member.id;
  }
  operator = { ...operator, id: await member(operator.label, 'operator') };
  await pool.query(INSERT_OPERATOR_SESSION, [operator.sessionId, operator.id]);

  let count = 0;
  return {
    ...createPeopleCalls(createInProcessTransport([service], { actors: unsignedActors }), () => operator),
    operator,
    ports: people,
    pool,

    /** A person with the given role in each organization. */
    async person(roles: Readonly<Record<string, string>> = {}, email = `person-${(count += 1)}@example.com`) {
      const id = await member(email);
      for (const [organizationId, role] of Object.entries(roles)) {
        const row = { organizationId, memberId: id, role, createdAt: new Date(clock.now()) };
        await prisma.membership.create({ data: row });
      }
      return { id, email };
    },

    async organization(name = 'Acme') {
      const limits = { multipleCompletions: false, ceilingMultipleCompletions: false };
      const createdAt = new Date(clock.now());
      const data = { id: newId('org'), name, suspended: false, createdAt, ...limits };
      return (await prisma.organization.create({ data })).id;
    },

    /** All rows of the tables that people own, as text, to find changes and secrets. */
    async storedRows(): Promise<Readonly<Record<string, string>>> {
      const stored: Record<string, string> = {};
      for (const table of TABLES) {
        const { rows } = await pool.query<{ text: string | null }>(
          `select string_agg(stored::text, '\n' order by stored::text) as text from ${table} stored`,
        );
        stored[table] = rows[0]?.text ?? '';
      }
      return stored;
    },

    /** The audit entries of a target, oldest first. */
    async auditOf(target: string) {
      const { rows } = await pool.query<{ action: string; actor: string; details: object }>(
        'select action, actor_label as actor, details from audit_entries where target = $1 order by id',
        [target],
      );
      return rows;
    },

    async stop() {
      await adapters.stop();
      await prisma.$disconnect();
      await pool.end();
      await database.drop();
    },
  };
}

export type PeopleFixture = Awaited<ReturnType<typeof createPeopleFixture>>;

const TABLES = [
  ...['members', 'memberships', 'sessions', 'invitations', 'password_resets', 'recovery_codes'],
  ...['member_identities', 'organization_domains', 'oidc_flows', 'management_tokens', 'audit_entries'],
];
