import type { GatewayProcess } from '@gateway/test-support';

/** Sets the concurrency limit of every organization through the dashboard API. */
export async function limitConcurrency(gateway: GatewayProcess, concurrency: number): Promise<void> {
  const { dashboardUrl, adminEmail, adminPassword } = gateway;
  const signedIn = await fetch(`${dashboardUrl}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: adminEmail, password: adminPassword }),
  });
  const headers = {
    'content-type': 'application/json',
    cookie: (signedIn.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '',
  };
  const listed = await fetch(`${dashboardUrl}/api/organizations`, { headers });
  const { data } = (await listed.json()) as { data: { id: string }[] };
  for (const { id } of data) {
    const set = await fetch(`${dashboardUrl}/api/organizations/${id}/limits`, {
      method: 'PUT',
      headers,
      body: JSON.stringify({
        requests_per_minute: null,
        tokens_per_minute: null,
        daily_budget_usd: null,
        weekly_budget_usd: null,
        monthly_budget_usd: null,
        total_budget_usd: null,
        concurrency,
        max_output_tokens: null,
        multiple_completions: false,
      }),
    });
    if (!set.ok) throw new Error(`the limits were not set: ${set.status} ${await set.text()}`);
  }
}
