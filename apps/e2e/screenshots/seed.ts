import { setTimeout as delay } from 'node:timers/promises';
import type { ScreenIds } from '../src/support/screens';
import type { World } from '../src/support/world';

/** An organization in which something has happened, so that pictures and tests see pages with content. */
export async function seed(world: World): Promise<ScreenIds> {
  const { admin } = world;
  const { organization } = await admin.call<{ organization: { id: string } }>('POST', '/api/organizations', {
    name: 'Northwind Labs',
  });
  const path = `/api/organizations/${organization.id}`;
  await admin.call('POST', `${path}/credits`, { amount_usd: '250', note: 'invoice 4711' });
  await admin.call('POST', `${path}/credits`, {
    amount_usd: '49.5',
    note: 'goodwill after the outage of 12 November',
  });
  const keys = [
    { name: 'production', scopes: ['chat', 'usage:read'], daily_budget_usd: '25', requests_per_minute: 300 },
    {
      name: 'batch jobs',
      scopes: ['chat'],
      allowed_models: ['demo/small'],
      ip_allowlist: ['127.0.0.1', '10.0.0.0/8'],
    },
    { name: 'Grafana, reads only', scopes: ['usage:read'], expires_on: '2027-03-31' },
    { name: 'old laptop', scopes: ['chat'] },
  ];
  const made: { readonly id: string; readonly secret: string }[] = [];
  for (const body of keys) {
    const { key, secret } = await admin.call<{ key: { id: string }; secret: string }>(
      'POST',
      `${path}/keys`,
      body,
    );
    made.push({ id: key.id, secret });
  }
  const [production, batch, , laptop] = made;
  if (!production || !batch || !laptop) throw new Error('the keys were not made');
  await admin.call('POST', `${path}/keys/${laptop.id}/revoke`, {});
  await admin.call('PUT', `${path}/limits`, {
    requests_per_minute: 1200,
    tokens_per_minute: 2_000_000,
    daily_budget_usd: '100',
    concurrency: 64,
    max_output_tokens: 32_768,
    multiple_completions: false,
  });

  let generationId = '';
  for (let number = 0; number < 12; number += 1) {
    const { secret } = number % 3 === 2 ? batch : production;
    const answer = await world.client(secret).chat.completions.create({
      model: number % 4 === 1 && secret === production.secret ? 'demo/standard' : 'demo/small',
      max_tokens: 40 + 30 * number,
      messages: [
        {
          role: 'user',
          content: `Tell me something about the number ${number}. ${'More. '.repeat(number * 8)}`,
        },
      ],
      ...(number % 2 === 0 ? { user: 'customer-17' } : {}),
    });
    generationId = answer.id;
  }
  await settled(world, production.secret, generationId);
  return { organizationId: organization.id, keyId: production.id, generationId };
}

async function settled(world: World, apiKey: string, generationId: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${world.gateway.baseUrl}/generation?id=${generationId}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    await answer.body?.cancel();
    if (answer.ok) return;
    await delay(50);
  }
}
