import type { ActingPerson } from '@gateway/actors';
import { usd } from '@gateway/admin-calls';
import { stubsOf } from '@gateway/admin-calls/testing';
import { AuditLogDefinition } from '@gateway/contracts/audit';
import { AuthAdminDefinition, AuthDefinition, MemberRole } from '@gateway/contracts/auth';
import { endpoints, parts, type Endpoint } from '@gateway/dashboard-contract';
import { applyMigrations, createPool } from '@gateway/database';
import type { z } from 'zod';
import { createPeopleCalls, INSERT_OPERATOR_SESSION } from '@gateway/people/testing';
import { createEncryptionKey } from '@gateway/secrets';
import { createClient, createInProcessTransport } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import { actingFor, createTestDatabase, TEST_OPERATOR, unsignedActors } from '@gateway/test-support';
import type { BudgetName, OrganizationLimits } from '../core/model';
import type { Clock } from '@gateway/base';
import {
  AUTH_SCHEMA,
  authSchema,
  createAuthAdapters,
  createAuthModule,
  type AuthServiceSettings,
} from '../index';

export interface AuthFixtureOptions {
  readonly clock?: Clock;
  readonly settings?: Partial<AuthServiceSettings>;
  /** Null: none. */
  readonly encryptionKeys?: readonly string[] | null;
}

export { codeOf, TEST_CLIENT } from '@gateway/people/testing';

/** The auth service on a database of its own, called through RPC clients. `startReplica` adds replicas. */
export async function createAuthFixture({
  clock = systemClock,
  settings = {},
  encryptionKeys: ownEncryptionKeys = [createEncryptionKey()],
}: AuthFixtureOptions = {}) {
  const database = await createTestDatabase();
  const log = createSilentLogger();
  const pools: ReturnType<typeof createPool>[] = [];
  const stops: (() => Promise<void>)[] = [];
  /** The person behind calls of `admin`. */
  let operator = TEST_OPERATOR;

  function openPool() {
    const options = {
      url: database.url,
      schema: AUTH_SCHEMA,
      applicationName: 'auth-test',
      maxConnections: 8,
    };
    const pool = createPool(options);
    pools.push(pool);
    return pool;
  }

  async function startReplica(keys = ownEncryptionKeys) {
    const pool = openPool();
    const encryptionKeys = keys ?? undefined;
    const module = createAuthModule({
      adapters: createAuthAdapters({ pool, clock, log, scryptCost: { N: 16, r: 1, p: 1 }, encryptionKeys }),
      clock,
      newId,
      log,
      metrics: createMetrics({ processMetrics: false }),
      settings,
      endpoints: stubsOf(Object.values(endpoints.notifications)),
    });
    await module.start();
    stops.push(() => module.stop());
    const transport = createInProcessTransport(module.services, { actors: unsignedActors });
    const adminFor = (person: () => ActingPerson) =>
      createClient(AuthAdminDefinition, actingFor(transport, person));
    return {
      ...createPeopleCalls(transport, () => operator),
      module,
      pool,
      auth: createClient(AuthDefinition, transport),
      /** Acts for an operator. */
      admin: adminFor(() => operator),
      /** Acts for another person. */
      adminAs: (person: Partial<ActingPerson>) => adminFor(() => ({ ...operator, ...person })),
      auditLog: createClient(
        AuditLogDefinition,
        actingFor(transport, () => operator),
      ),
    };
  }

  await applyMigrations(openPool(), authSchema);
  const replica = await startReplica();
  const { member } = await replica.admin.ensureMember({
    email: operator.label,
    password: 'correct horse battery',
    role: MemberRole.MEMBER_ROLE_OPERATOR,
    resetPassword: false,
  });
  operator = { ...operator, id: member?.id ?? '' };
  await replica.pool.query(INSERT_OPERATOR_SESSION, [operator.sessionId, operator.id]);

  return {
    ...replica,
    operator,
    startReplica,

    async organization(name = 'Acme') {
      const { organization } = await replica.endpoints.call(endpoints.organizations.create, {
        body: { name },
      });
      return organization;
    },

    setLimits: (organizationId: string, limits: Limits, client = replica.endpoints) =>
      client.call(endpoints.organizations.setLimits, {
        params: { organization_id: organizationId },
        body: limitsBody(limits),
      }),

    setCeilings: (organizationId: string, ceilings: Limits) =>
      replica.endpoints.call(endpoints.organizations.setCeilings, {
        params: { organization_id: organizationId },
        body: limitsBody(ceilings),
      }),

    suspend: (organizationId: string, suspended = true) => {
      const target = { params: { organization_id: organizationId }, body: {} };
      const { suspend, resume } = endpoints.organizations;
      return suspended ? replica.endpoints.call(suspend, target) : replica.endpoints.call(resume, target);
    },

    createProject: (organizationId: string, budgets: Budgets = {}, name = 'Project') =>
      replica.endpoints.call(endpoints.projects.create, {
        params: { organization_id: organizationId },
        body: { name, ...budgetsBody(budgets) },
      }),

    async project(organizationId: string, budgets: Budgets = {}) {
      return (await this.createProject(organizationId, budgets)).project;
    },

    updateProject: (
      organizationId: string,
      projectId: string,
      changes: { name: string; budgets?: Budgets; version?: number },
      client = replica.endpoints,
    ) => {
      const { name, budgets = {}, version } = changes;
      return client.call(endpoints.projects.update, {
        params: { organization_id: organizationId, project_id: projectId },
        body: { name, ...budgetsBody(budgets), ...(version !== undefined && { version }) },
      });
    },

    archiveProject: (organizationId: string, projectId: string, client = replica.endpoints) =>
      client.call(endpoints.projects.archive, {
        params: { organization_id: organizationId, project_id: projectId },
        body: {},
      }),

    createKey: (organizationId: string, body = keyBody(), client = replica.endpoints) =>
      client.call(endpoints.keys.create, { params: { organization_id: organizationId }, body }),

    async key(organizationId: string, limits: Limits = {}) {
      const { key, secret } = await this.createKey(organizationId, keyBody(limits));
      return { ...key, secret };
    },

    findKey: async (organizationId: string, keyId: string) =>
      (await replica.endpoints.call(parts.key, { params: paramsOf(organizationId, keyId) })).key,

    updateKey: (
      organizationId: string,
      keyId: string,
      body: InputOf<typeof endpoints.keys.update>,
      client = replica.endpoints,
    ) => client.call(endpoints.keys.update, { params: paramsOf(organizationId, keyId), body }),

    revokeKey: (organizationId: string, keyId: string, client = replica.endpoints) =>
      client.call(endpoints.keys.revoke, { params: paramsOf(organizationId, keyId), body: {} }),

    listKeys: (organizationId: string, query: InputOf<typeof parts.keys, 'query'> = {}) =>
      replica.endpoints.call(parts.keys, { params: { organization_id: organizationId }, query }),

    member: (email: string, password: string, resetPassword = false) =>
      replica.admin.ensureMember({
        email,
        password,
        role: MemberRole.MEMBER_ROLE_OPERATOR,
        resetPassword,
      }),

    async stop() {
      for (const stop of stops) await stop();
      for (const pool of pools) await pool.end();
      await database.drop();
    },
  };
}

export type AuthFixture = Awaited<ReturnType<typeof createAuthFixture>>;

type Budgets = Partial<Record<BudgetName, bigint>>;
/** Limits with plain amounts. */
export type Limits = Partial<Omit<OrganizationLimits, BudgetName>> & Budgets;

const usdOrNull = (nanoUsdAmount: bigint | undefined) =>
  nanoUsdAmount === undefined ? null : usd(nanoUsdAmount);

/** Budgets as the contract writes them. */
export function budgetsBody(budgets: Budgets) {
  return {
    daily_budget_usd: usdOrNull(budgets.dailyBudgetNanoUsd),
    weekly_budget_usd: usdOrNull(budgets.weeklyBudgetNanoUsd),
    monthly_budget_usd: usdOrNull(budgets.monthlyBudgetNanoUsd),
    total_budget_usd: usdOrNull(budgets.totalBudgetNanoUsd),
  };
}

/** Limits as the contract writes them. */
export function limitsBody(limits: Limits) {
  return {
    ...budgetsBody(limits),
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrency: limits.concurrency ?? null,
    max_output_tokens: limits.maxOutputTokens ?? null,
    multiple_completions: limits.multipleCompletions ?? false,
  };
}

/** A new key as the contract writes it. */
export function keyBody(
  limits: Limits = {},
  more: Partial<InputOf<typeof endpoints.keys.create>> = {},
): InputOf<typeof endpoints.keys.create> {
  const { max_output_tokens: _tokens, multiple_completions: _completions, ...ofKey } = limitsBody(limits);
  return { name: 'a key', scopes: ['chat', 'usage:read'], ...ofKey, ...more };
}

/** What a caller sends. */
export type InputOf<Of extends Endpoint, Part extends 'body' | 'query' = 'body'> = Of[Part] extends z.ZodType
  ? z.input<Of[Part]>
  : never;

const paramsOf = (organizationId: string, keyId: string) => ({
  organization_id: organizationId,
  key_id: keyId,
});
