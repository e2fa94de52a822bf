import { applyMigrations, createPool } from '@gateway/database';
import { createTestDatabase, type TestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { createAuthPrisma, type AuthPrisma } from './client';
import { Prisma } from './generated/client';
import { AUTH_SCHEMA, authSchema } from './schema';

let database: TestDatabase;
let pool: Pool;
let prisma: AuthPrisma;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, schema: AUTH_SCHEMA, applicationName: 'test', maxConnections: 2 });
  await applyMigrations(pool, authSchema);
  prisma = createAuthPrisma(pool);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Tables used through SQL only. */
const WITHOUT_MODEL = [
  '_prisma_migrations',
  'edge_leases',
  'incidents',
  'invalidation_counter',
  'invalidations',
  'notification_deliveries',
  'notification_settings',
  'operator_notifications',
];

const MODELS = [
  ['organization', 'organizations', Prisma.OrganizationScalarFieldEnum],
  ['project', 'projects', Prisma.ProjectScalarFieldEnum],
  ['apiKey', 'api_keys', Prisma.ApiKeyScalarFieldEnum],
  ['member', 'members', Prisma.MemberScalarFieldEnum],
  ['memberIdentity', 'member_identities', Prisma.MemberIdentityScalarFieldEnum],
  ['organizationDomain', 'organization_domains', Prisma.OrganizationDomainScalarFieldEnum],
  ['oidcFlow', 'oidc_flows', Prisma.OidcFlowScalarFieldEnum],
  ['membership', 'memberships', Prisma.MembershipScalarFieldEnum],
  ['invitation', 'invitations', Prisma.InvitationScalarFieldEnum],
  ['passwordReset', 'password_resets', Prisma.PasswordResetScalarFieldEnum],
  ['recoveryCode', 'recovery_codes', Prisma.RecoveryCodeScalarFieldEnum],
  ['session', 'sessions', Prisma.SessionScalarFieldEnum],
  ['managementToken', 'management_tokens', Prisma.ManagementTokenScalarFieldEnum],
  ['signInAttempts', 'sign_in_attempts', Prisma.SignInAttemptsScalarFieldEnum],
  ['auditEntry', 'audit_entries', Prisma.AuditEntryScalarFieldEnum],
] as const;

it.each(MODELS)('the Prisma model %s has exactly the columns of its table', async (model, table, fields) => {
  // Selects every field of the model, so it fails if a column is missing.
  await (prisma[model] as unknown as { findFirst(): Promise<unknown> }).findFirst();
  const { rows } = await pool.query<{ name: string }>(
    'select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2',
    [AUTH_SCHEMA, table],
  );
  const comparable = (names: readonly string[]) =>
    names.map((name) => name.replaceAll('_', '').toLowerCase()).sort();
  expect(comparable(rows.map(({ name }) => name))).toEqual(comparable(Object.keys(fields)));
});

it('every table has a Prisma model, except the tables used through SQL only', async () => {
  const { rows } = await pool.query<{ name: string }>(
    'select table_name as name from information_schema.tables where table_schema = $1',
    [AUTH_SCHEMA],
  );
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [...MODELS.map(([, table]) => table), ...WITHOUT_MODEL].sort(),
  );
});
