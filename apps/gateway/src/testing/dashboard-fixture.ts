import {
  AUTH_SCHEMA,
  authSchema,
  createAuthAdapters,
  createAuthModule,
  type AuthAdapterOptions,
} from '@gateway/auth';
import { createEncryptionKey } from '@gateway/people';
import type { Clock } from '@gateway/base';
import { AuthAdminDefinition, AuthDefinition, MemberRole } from '@gateway/contracts/auth';
import type { BillingLedgerDefinition, GetBalanceResponse } from '@gateway/contracts/billing-ledger';
import type { GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import type { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { allEndpoints, errorsOf } from '@gateway/dashboard-contract';
import { createDashboardApi, type DashboardApiPorts } from '@gateway/dashboard-api';
import { applyMigrations, createPool } from '@gateway/database';
import { createClient, createInProcessTransport, type RpcClient } from '@gateway/rpc';
import { createMetrics, createSilentLogger, newId, systemClock } from '@gateway/runtime';
import { createTestDatabase } from '@gateway/test-support';
import { createCuttableDatabase } from './cuttable-database';

export const OPERATOR = { email: 'ops@example.com', password: 'correct horse battery' };

/** Balances in memory, idempotent by credit id as the ledger's contract says. */
function createLedgerStub(): RpcClient<typeof BillingLedgerDefinition> {
  const credits = new Map<string, { organizationId: string; amount: bigint }>();
  const balanceOf = (organizationId: string): GetBalanceResponse => {
    const own = [...credits.values()].filter((credit) => credit.organizationId === organizationId);
    const total = own.reduce((sum, { amount }) => sum + amount, 0n);
    return {
      totalCreditsNanoUsd: total,
      totalUsageNanoUsd: 0n,
      balanceNanoUsd: total,
      heldNanoUsd: 0n,
      availableNanoUsd: total,
    };
  };
  const stub: Pick<RpcClient<typeof BillingLedgerDefinition>, 'getBalance' | 'addCredit'> = {
    getBalance: async ({ organizationId }) => balanceOf(organizationId),
    addCredit: async ({ creditId, organizationId, amountNanoUsd }) => {
      if (!credits.has(creditId)) credits.set(creditId, { organizationId, amount: amountNanoUsd });
      return { balance: balanceOf(organizationId) };
    },
  };
  return stub as RpcClient<typeof BillingLedgerDefinition>;
}

/** How auth is told apart from how it is by default. */
type FixtureAuthOptions = Pick<AuthAdapterOptions, 'oidc' | 'mailer'> & { readonly clock?: Clock };

/** The dashboard's API over the real auth domain on a database of its own; the other domains are stubs, unless given. */
export async function createDashboardFixture(
  others: Partial<DashboardApiPorts> = {},
  { clock = systemClock, ...adapters }: FixtureAuthOptions = {},
) {
  const database = await createTestDatabase();
  const way = await createCuttableDatabase(database.url);
  const pool = createPool({
    url: way.url,
    schema: AUTH_SCHEMA,
    applicationName: 'test',
    maxConnections: 8,
  });
  await applyMigrations(pool, authSchema);
  const log = createSilentLogger();
  const module = createAuthModule({
    adapters: createAuthAdapters({
      pool,
      log,
      scryptCost: { N: 16, r: 1, p: 1 },
      encryptionKeys: [createEncryptionKey()],
      ...adapters,
    }),
    clock,
    newId,
    log,
    metrics: createMetrics({ processMetrics: false }),
  });
  await module.start();
  const transport = createInProcessTransport(module.services);
  const authAdmin = createClient(AuthAdminDefinition, transport);
  await authAdmin.ensureMember({
    actor: { id: 'system', label: 'system', ipAddress: '' },
    ...OPERATOR,
    role: MemberRole.MEMBER_ROLE_OPERATOR,
    resetPassword: false,
  });
  const api = createDashboardApi({
    authAdmin,
    ledger: createLedgerStub(),
    // Keys are listed without their activity then.
    generationReports: {} as RpcClient<typeof GenerationReportsDefinition>,
    // No key of these tests is limited to models.
    inferenceRouter: {} as RpcClient<typeof InferenceRouterDefinition>,
    deadLetters: new Map(),
    clock: systemClock,
    newId,
    log,
    metrics: createMetrics({ processMetrics: false }),
    settings: { host: '127.0.0.1', port: 0 },
    ledgerAdmin: { getCreditAlert: async () => ({ alert: undefined }) } as never,
    routerAdmin: {} as never,
    ...others,
  });
  await api.start();
  return {
    api,
    authAdmin,
    pool,
    /** The way to it, which can be cut. */
    database: way,
    auth: createClient(AuthDefinition, transport),
    /** Signs in from a browser of its own; what it asks is as that person. */
    signedIn: (email: string, password = OPERATOR.password) => signInAt(api.port(), email, password),

    /** Somebody who can sign in, with these roles by organization id. */
    async person(email: string, roles: Readonly<Record<string, string>> = {}): Promise<string> {
      const { member } = await authAdmin.ensureMember({
        actor: { id: 'system', label: 'system', ipAddress: '' },
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
      await way.close();
      await database.drop();
    },
  };
}

export type DashboardFixture = Awaited<ReturnType<typeof createDashboardFixture>>;

/** An answer as the tests read it. */
export interface Answered {
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
  const answer = await browser.ask('POST /api/session', { email, password });
  if (answer.status !== 200) throw new Error(`signing in answered ${answer.status}`);
  return browser;
}

const described = allEndpoints().map((endpoint) => ({
  endpoint,
  pattern: new RegExp(`^${endpoint.path.replace(/\{\w+\}/g, '[^/?]+')}(\\?.*)?$`),
}));

/** Whatever a test asks is refused with nothing but what the contract says of that endpoint. */
function expectDescribed(method: string, path: string, code: string | undefined): void {
  const found = described.find(
    ({ endpoint, pattern }) => endpoint.method === method && pattern.test(path),
  )?.endpoint;
  if (code === undefined || found === undefined) return;
  expect([method, found.path, [...errorsOf(found)]]).toEqual([
    method,
    found.path,
    expect.arrayContaining([code]),
  ]);
}

/** Keeps cookies as a browser does, and sends JSON as the dashboard's pages do. */
export function createBrowser(port: number) {
  /** By name, with what it is for and what is sent. */
  const jar = new Map<string, { readonly path: string; readonly pair: string }>();
  const keep = (set: string) => {
    const [pair = '', ...attributes] = set.split(/; */);
    const [name = '', value = ''] = pair.split('=');
    const path = attributes.find((one) => one.startsWith('Path='))?.slice('Path='.length) ?? '/';
    if (value === '') jar.delete(name);
    else jar.set(name, { path, pair });
  };
  const cookieFor = (asked: string) =>
    [...jar.values()].flatMap(({ path, pair }) => (asked.startsWith(path) ? [pair] : [])).join('; ');
  async function ask(line: string, body?: object, headers: Record<string, string> = {}): Promise<Answered> {
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
    response.headers.getSetCookie().forEach(keep);
    const text = await response.text();
    const json: unknown = text.startsWith('{') ? JSON.parse(text) : {};
    const error = (json as { error?: Answered['error'] }).error ?? {};
    expectDescribed(method, path, error.code);
    return { status: response.status, headers: response.headers, json, error };
  }
  return { ask, cookie: () => cookieFor('/') };
}
