/** The few calls of the dashboard's API that the bench needs. */
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

  /** A new organization without limits, with credit and one key. */
  async createTenant(name: string, creditUsd: string): Promise<{ organizationId: string; apiKey: string }> {
    const created = await this.call<{ organization: { id: string } }>('POST', '/api/organizations', { name });
    const organizationId = created.organization.id;
    const path = `/api/organizations/${organizationId}`;
    await this.call('PUT', `${path}/limits`, {
      requests_per_minute: null,
      tokens_per_minute: null,
      daily_budget_usd: null,
      concurrency: null,
      max_output_tokens: null,
      multiple_completions: false,
    });
    await this.call('POST', `${path}/credits`, { amount_usd: creditUsd, note: 'bench' });
    const { secret } = await this.call<{ secret: string }>('POST', `${path}/keys`, {
      name: 'bench',
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

/** A decimal amount of dollars as whole nano-dollars, exactly. */
export function nanoUsd(decimal: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,9})0*)?$/.exec(decimal);
  if (match === null) throw new Error(`not an amount in dollars: '${decimal}'`);
  const [, sign, whole = '0', fraction = ''] = match;
  const amount = BigInt(whole + fraction.padEnd(9, '0'));
  return sign === '-' ? -amount : amount;
}
