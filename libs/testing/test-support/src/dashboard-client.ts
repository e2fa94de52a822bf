import { parseUsd } from '@gateway/base';

/** Of an organization; null stands for none. */
export interface TenantLimits {
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  /** Such as "100.00". */
  readonly dailyBudgetUsd?: string | null;
  readonly concurrency?: number | null;
}

/** The few calls of the dashboard's API that load tools need. */
export class DashboardClient {
  private constructor(
    private readonly base: string,
    private readonly cookie: string,
  ) {}

  static async signIn(url: string, email: string, password: string): Promise<DashboardClient> {
    const base = url.replace(/\/$/, '');
    const response = await fetch(`${base}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    if (!response.ok)
      throw new Error(`POST /api/session answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
    return new DashboardClient(base, (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '');
  }

  /** A new organization with credit and one key, without limits but those given. */
  async createTenant(
    name: string,
    creditUsd: string,
    limits: TenantLimits = {},
  ): Promise<{ organizationId: string; apiKey: string }> {
    const created = await this.call<{ organization: { id: string } }>('POST', '/api/organizations', { name });
    const organizationId = created.organization.id;
    const path = `/api/organizations/${organizationId}`;
    await this.call('PUT', `${path}/limits`, {
      requests_per_minute: limits.requestsPerMinute ?? null,
      tokens_per_minute: limits.tokensPerMinute ?? null,
      daily_budget_usd: limits.dailyBudgetUsd ?? null,
      concurrency: limits.concurrency ?? null,
      max_output_tokens: null,
      multiple_completions: false,
    });
    await this.call('POST', `${path}/credits`, { amount_usd: creditUsd, note: 'for a load' });
    const { secret } = await this.call<{ secret: string }>('POST', `${path}/keys`, {
      name: 'load',
      scopes: ['chat', 'usage:read'],
    });
    return { organizationId, apiKey: secret };
  }

  async balance(organizationId: string): Promise<{ usedNanoUsd: bigint; heldNanoUsd: bigint }> {
    const { balance } = await this.call<{ balance: { total_usage_usd: string; reserved_usd: string } }>(
      'GET',
      `/api/organizations/${organizationId}/balance`,
    );
    return { usedNanoUsd: nanoUsd(balance.total_usage_usd), heldNanoUsd: nanoUsd(balance.reserved_usd) };
  }

  /** Reads any path of the API. */
  get<Answer>(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  private async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.base}${path}`, {
      method,
      headers: { cookie: this.cookie, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Answer;
  }
}

function nanoUsd(decimal: string): bigint {
  const amount = parseUsd(decimal);
  if (amount === undefined) throw new Error(`not an amount in dollars: '${decimal}'`);
  return amount;
}
