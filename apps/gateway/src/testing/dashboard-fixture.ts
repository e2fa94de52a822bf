import {
  AUTH_SCHEMA,
  authSchema,
  createAuthAdapters,
  createAuthModule,
  type AuthAdapterOptions,
} from '@gateway/auth';
import { createEncryptionKey } from '@gateway/secrets';
import {
  createAdminClient,
  implement,
  serveEndpoints,
  usd,
  type AdminClient,
  type Implementation,
} from '@gateway/admin-calls';
import { stubsOf } from '@gateway/admin-calls/testing';
import type { Clock } from '@gateway/base';
import { AuditLogDefinition } from '@gateway/contracts/audit';
import { AuthAdminDefinition, AuthDefinition, MemberRole } from '@gateway/contracts/auth';
import type { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import {
  allEndpoints,
  allParts,
  endpoints,
  errorsOf,
  type Endpoint,
  type Owner,
} from '@gateway/dashboard-contract';
import { createDashboardApi, type DashboardApiPorts } from '@gateway/dashboard-api';
import { applyMigrations, createPool } from '@gateway/database';
import {
  createActingTransport,
  createClient,
  createInProcessTransport,
  type RpcClient,
  type RpcTransport,
} from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import { actingFor, createTestDatabase, TEST_OPERATOR, unsignedActors } from '@gateway/test-support';
import { createCuttableDatabase } from './cuttable-database';

export const OPERATOR = { email: 'ops@example.com', password: 'correct horse battery' };

/** Serves the endpoints of an owner with its real checks. Those without a handler fail. */
export function ownerWith(owner: Owner, ...implementations: readonly Implementation[]): AdminClient {
  const isStubbed = (endpoint: Endpoint) => implementations.every((each) => each.endpoint !== endpoint);
  const others = stubsOf(
    [...allEndpoints(), ...allParts()].filter((endpoint) => endpoint.owner === owner && isStubbed(endpoint)),
  );
  const service = serveEndpoints(owner, [...implementations, ...others], { isUnavailable: () => false });
  return createAdminClient(actingOn(createInProcessTransport([service], { actors: unsignedActors })));
}

/** Acts for the person of the dashboard's request. */
function actingOn(transport: RpcTransport): RpcTransport {
  return createActingTransport(transport, { audience: 'test', signer: unsignedActors });
}

/** Balances in memory. Credit of the same Idempotency-Key is added once. */
function createLedgerStub(): AdminClient {
  const credits = new Map<string, { organizationId: string; amount: bigint }>();
  const balanceOf = (organizationId: string) => {
    const own = [...credits.values()].filter((credit) => credit.organizationId === organizationId);
    const total = usd(own.reduce((sum, credit) => sum + credit.amount, 0n));
    return {
      ...{ total_credits_usd: total, total_usage_usd: '0', balance_usd: total },
      ...{ reserved_usd: '0', available_usd: total },
    };
  };
  return ownerWith(
    'billing-ledger',
    implement(endpoints.credit.balance, async ({ params }) => ({
      balance: balanceOf(params.organization_id),
      low_balance: null,
    })),
    implement(endpoints.credit.add, async ({ params, body, headers }) => {
      const { organization_id: organizationId } = params;
      const id = headers['idempotency-key'] ?? newId('crd');
      if (!credits.has(id)) credits.set(id, { organizationId, amount: body.amount_usd });
      const credit = { id, amount_usd: usd(body.amount_usd), note: body.note ?? null };
      return { credit, balance: balanceOf(organizationId) };
    }),
  );
}

/** Options of auth that differ from the defaults. */
type FixtureAuthOptions = Pick<AuthAdapterOptions, 'oidc' | 'mailer'> & { readonly clock?: Clock };

type FixturePorts = Partial<Omit<DashboardApiPorts, 'owners'>> & {
  readonly owners?: Partial<DashboardApiPorts['owners']>;
};

/** The dashboard API with the real auth domain on a separate database; other domains are stubs unless given. */
export async function createDashboardFixture(
  { owners, auditLogs = [], ...others }: FixturePorts = {},
  { clock = systemClock, ...adapters }: FixtureAuthOptions = {},
) {
  const database = await createTestDatabase();
  const cuttable = await createCuttableDatabase(database.url);
  const pool = createPool({
    url: cuttable.url,
    schema: AUTH_SCHEMA,
    applicationName: 'test',
    maxConnections: 8,
  });
  await applyMigrations(pool, authSchema);
  const log = createSilentLogger();
  const module = createAuthModule({
    adapters: createAuthAdapters({
      pool,
      clock,
      log,
      scryptCost: { N: 16, r: 1, p: 1 },
      encryptionKeys: [createEncryptionKey()],
      ...adapters,
    }),
    clock,
    newId,
    log,
    metrics: createMetrics({ processMetrics: false }),
    endpoints: stubsOf(Object.values(endpoints.notifications)),
  });
  await module.start();
  const transport = createInProcessTransport(module.services, { actors: unsignedActors });
  let operator = TEST_OPERATOR;
  const authAdmin = createClient(
    AuthAdminDefinition,
    actingFor(transport, () => operator),
  );
  const { member } = await authAdmin.ensureMember({
    ...OPERATOR,
    role: MemberRole.MEMBER_ROLE_OPERATOR,
    resetPassword: false,
  });
  operator = { ...TEST_OPERATOR, id: member?.id ?? '', label: OPERATOR.email };
  const api = createDashboardApi({
    auditLogs: [createClient(AuditLogDefinition, actingOn(transport)), ...auditLogs],
    // Without it, keys are listed without their activity.
    owners: {
      auth: createAdminClient(actingOn(transport)),
      'billing-ledger': createLedgerStub(),
      'generation-query': ownerWith('generation-query'),
      'inference-router': ownerWith('inference-router'),
      ...owners,
    },
    // No key in these tests is restricted to models.
    inferenceRouter: {} as RpcClient<typeof InferenceRouterDefinition>,
    deadLetters: new Map(),
    clock: systemClock,
    newId,
    log,
    metrics: createMetrics({ processMetrics: false }),
    settings: { host: '127.0.0.1', port: 0 },
    ...others,
  });
  await api.start();
  return {
    api,
    /** Acts for the operator. */
    authAdmin,
    pool,
    /** The connection to the database, which can be cut. */
    database: cuttable,
    auth: createClient(AuthDefinition, transport),
    /** Signs in from a new browser. */
    signedIn: (email: string, password = OPERATOR.password) => signInAt(api.port(), email, password),

    /** Creates a person who can sign in, with roles by organization id. */
    async person(email: string, roles: Readonly<Record<string, string>> = {}): Promise<string> {
      const { member } = await authAdmin.ensureMember({
        email,
        password: OPERATOR.password,
        role: MemberRole.MEMBER_ROLE_MEMBER,
        resetPassword: false,
      });
      for (const [organizationId, role] of Object.entries(roles)) {
        await pool.query(`insert into memberships values ($1, $2, $3, now())`, [
          organizationId,
          member?.id,
          role,
        ]);
      }
      return member?.id ?? '';
    },

    async stop() {
      await api.stop();
      await module.stop();
      await pool.end();
      await cuttable.close();
      await database.drop();
    },
  };
}

export type DashboardFixture = Awaited<ReturnType<typeof createDashboardFixture>>;

/** A response of the dashboard API. */
export interface DashboardResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
  readonly error: {
    readonly code?: string;
    readonly param?: string;
    readonly message?: string;
    readonly metadata?: unknown;
  };
}

export type Browser = Awaited<ReturnType<typeof signInAt>>;

async function signInAt(port: number, email: string, password: string) {
  const browser = createBrowser(port);
  const response = await browser.request('POST /api/session', { email, password });
  if (response.status !== 200) throw new Error(`signing in returned ${response.status}`);
  return browser;
}

const endpointPatterns = allEndpoints().map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/\{\w+\}/g, '[^/?]+')}(\\?.*)?$`),
}));

/** Expects an error code that the contract lists for the endpoint. */
function expectDocumentedError(method: string, path: string, code: string | undefined): void {
  const found = endpointPatterns.find(
    ({ endpoint, pattern }) => endpoint.method === method && pattern.test(path),
  )?.endpoint;
  if (code === undefined || found === undefined) return;
  expect([method, found.path, [...errorsOf(found)]]).toEqual([
    method,
    found.path,
    expect.arrayContaining([code]),
  ]);
}

/** Stores cookies like a browser, and sends JSON like the dashboard's pages. */
export function createBrowser(port: number) {
  /** Cookies by name, with their path and `name=value` pair. */
  const jar = new Map<string, { readonly path: string; readonly pair: string }>();
  const store = (set: string) => {
    const [pair = '', ...attributes] = set.split(/; */);
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((one) => one.startsWith('Path='))?.slice('Path='.length) ?? '/';
    if (value === '') jar.delete(name);
    else jar.set(name, { path, pair });
  };
  const cookieFor = (requestPath: string) =>
    [...jar.values()].flatMap(({ path, pair }) => (requestPath.startsWith(path) ? [pair] : [])).join('; ');
  async function request(
    line: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<DashboardResponse> {
    const [method = '', path = ''] = line.split(' ');
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        cookie: cookieFor(path),
        ...headers,
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    response.headers.getSetCookie().forEach(store);
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : {};
    const error = (json as { error?: DashboardResponse['error'] }).error ?? {};
    expectDocumentedError(method, path, error.code);
    return { status: response.status, headers: response.headers, json, error };
  }
  return { request, cookie: () => cookieFor('/') };
}
