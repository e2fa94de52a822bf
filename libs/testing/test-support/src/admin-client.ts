import { parseUsd } from '@gateway/base';

/**
 * A signed-in client of the dashboard API for tests and tools. Unlike the dashboard's typed client, it accepts any path
 * and body, because tests also send invalid requests.
 */
export interface AdminClient {
  call<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body>;
}

export interface Limits {
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  daily_budget_usd: string | null;
  weekly_budget_usd: string | null;
  monthly_budget_usd: string | null;
  total_budget_usd: string | null;
  concurrency: number | null;
  max_output_tokens: number | null;
  multiple_completions: boolean;
}

export interface KeySettings {
  name?: string;
  scopes?: string[];
  allowed_models?: string[] | null;
  ip_allowlist?: string[];
  json_streaming?: boolean;
  expires_on?: string | null;
  requests_per_minute?: number | null;
  tokens_per_minute?: number | null;
  concurrency?: number | null;
  daily_budget_usd?: string | null;
  weekly_budget_usd?: string | null;
  monthly_budget_usd?: string | null;
  total_budget_usd?: string | null;
  project_id?: string | null;
}

export type ProjectBudgets = Partial<
  Pick<Limits, 'daily_budget_usd' | 'weekly_budget_usd' | 'monthly_budget_usd' | 'total_budget_usd'>
>;

export interface Balance {
  total_credits_usd: string;
  total_usage_usd: string;
  balance_usd: string;
  reserved_usd: string;
  available_usd: string;
}

export class AdminCallFailed extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
    request: string,
  ) {
    super(`${request} returned ${status}: ${JSON.stringify(body)}`);
  }
}

export async function signIn(dashboardUrl: string, email: string, password: string): Promise<AdminClient> {
  const base = dashboardUrl.replace(/\/$/, '');
  const response = await fetch(`${base}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok) throw new AdminCallFailed(response.status, await response.text(), 'POST /api/session');
  const cookie = (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  await response.body?.cancel();
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { cookie, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { response, parsed: (text === '' ? {} : JSON.parse(text)) as unknown };
  };
  return {
    async call<Body>(method: string, path: string, body?: unknown): Promise<Body> {
      let { response, parsed } = await send(method, path, body);
      // Runs may be longer than a confirmation is valid.
      if (response.status === 403 && JSON.stringify(parsed).includes('"confirmation_required"')) {
        await send('POST', '/api/session/confirm', { password });
        ({ response, parsed } = await send(method, path, body));
      }
      if (!response.ok) throw new AdminCallFailed(response.status, parsed, `${method} ${path}`);
      return parsed as Body;
    },
  };
}

/** Without the limits that a new organization has. Other builds may lack newer ones. */
const NO_DEFAULT_LIMITS = {
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrency: null,
  max_output_tokens: null,
};

export const NO_LIMITS: Limits = {
  ...NO_DEFAULT_LIMITS,
  daily_budget_usd: null,
  weekly_budget_usd: null,
  monthly_budget_usd: null,
  total_budget_usd: null,
  multiple_completions: false,
};

/** Creates an organization with credit and one key, so that tests do not affect each other. */
export async function createTenant(
  admin: AdminClient,
  options: { name?: string; credit?: string; limits?: Partial<Limits>; key?: KeySettings } = {},
): Promise<Tenant> {
  const { name = `tenant ${Math.random().toString(36).slice(2)}` } = options;
  const { organization } = await admin.call<{ organization: { id: string } }>('POST', '/api/organizations', {
    name,
    // Tests choose their limits freely.
    ceilings: { ...NO_DEFAULT_LIMITS, multiple_completions: true },
  });
  const path = `/api/organizations/${organization.id}`;
  const tenant: Tenant = {
    organizationId: organization.id,
    apiKey: '',
    keyId: '',
    async setLimits(limits) {
      await admin.call('PUT', `${path}/limits`, { ...NO_LIMITS, ...limits });
    },
    async setElasticHolds(enabled) {
      await admin.call('PUT', `${path}/elastic-holds`, { enabled });
    },
    async addCredit(amountUsd) {
      await admin.call('POST', `${path}/credits`, { amount_usd: amountUsd, note: 'test' });
    },
    async createKey(settings = {}) {
      const created = await admin.call<{ key: { id: string }; secret: string }>('POST', `${path}/keys`, {
        name: 'test key',
        scopes: ['chat', 'usage:read'],
        ...settings,
      });
      return { apiKey: created.secret, keyId: created.key.id };
    },
    async createProject(budgets = {}) {
      const { project } = await admin.call<{ project: { id: string } }>('POST', `${path}/projects`, {
        name: 'test project',
        ...budgets,
      });
      return project.id;
    },
    async updateKey(keyId, settings) {
      await admin.call('PATCH', `${path}/keys/${keyId}`, settings);
    },
    async revokeKey(keyId) {
      await admin.call('POST', `${path}/keys/${keyId}/revoke`, {});
    },
    async setSuspended(suspended) {
      await admin.call(
        'POST',
        `${path}/${suspended ? 'suspend' : 'resume'}`,
        suspended ? { reason: 'test' } : {},
      );
    },
    async balance() {
      return (await admin.call<{ balance: Balance }>('GET', `${path}/balance`)).balance;
    },
  };
  await admin.call('PUT', `${path}/limits`, { ...NO_DEFAULT_LIMITS, ...options.limits });
  if (options.credit !== '0') await tenant.addCredit(options.credit ?? '100.00');
  Object.assign(tenant, await tenant.createKey(options.key));
  return tenant;
}

export interface Tenant {
  readonly organizationId: string;
  readonly apiKey: string;
  readonly keyId: string;
  /** Limits that are not given are removed. */
  setLimits(limits: Partial<Limits>): Promise<void>;
  setElasticHolds(enabled: boolean): Promise<void>;
  addCredit(amountUsd: string): Promise<void>;
  createKey(settings?: KeySettings): Promise<{ apiKey: string; keyId: string }>;
  /** Returns its id. */
  createProject(budgets?: ProjectBudgets): Promise<string>;
  updateKey(keyId: string, settings: KeySettings): Promise<void>;
  revokeKey(keyId: string): Promise<void>;
  setSuspended(suspended: boolean): Promise<void>;
  balance(): Promise<Balance>;
}

/** An organization's spending, and the amount reserved for running requests. */
export async function spendingOf(
  admin: AdminClient,
  organizationId: string,
): Promise<{ usedNanoUsd: bigint; heldNanoUsd: bigint }> {
  const path = `/api/organizations/${organizationId}/balance`;
  const { balance } = await admin.call<{ balance: Balance }>('GET', path);
  return { usedNanoUsd: nanoUsd(balance.total_usage_usd), heldNanoUsd: nanoUsd(balance.reserved_usd) };
}

function nanoUsd(decimal: string): bigint {
  const amount = parseUsd(decimal);
  if (amount === undefined) throw new Error(`not an amount in US dollars: '${decimal}'`);
  return amount;
}
