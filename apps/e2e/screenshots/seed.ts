import { setTimeout as delay } from 'node:timers/promises';
import { APIError } from 'openai';
import { NO_LIMITS, type AdminClient } from '@gateway/test-support';
import { inviteTo, personWith } from '../src/testing/people';
import type { ScreenIds } from '../src/testing/screens';
import type { TestEnv } from '../src/testing/test-env';

/** An organization with history, so that screenshots and tests show pages with content. */
export interface Seeded extends ScreenIds {
  readonly secrets: { readonly production: string; readonly batch: string };
}

export async function seed(testEnv: TestEnv): Promise<Seeded> {
  const { admin } = testEnv;
  const organizationId = await createOrganization(admin, 'Northwind Labs');
  const path = `/api/organizations/${organizationId}`;
  await admin.call('POST', `${path}/credits`, { amount_usd: '250', note: 'invoice 4711' });
  await admin.call('POST', `${path}/credits`, {
    amount_usd: '49.5',
    note: 'goodwill after the outage of 12 November',
  });
  const { project } = await admin.call<{ project: { id: string } }>('POST', `${path}/projects`, {
    ...{ name: 'Website', monthly_budget_usd: '40' },
    budgets: [{ period: 'window', hours: 5, amount_usd: '12' }],
  });
  const keys = [
    {
      ...{ name: 'production', scopes: ['chat', 'usage:read'], project_id: project.id },
      ...{ daily_budget_usd: '25', requests_per_minute: 300 },
      budgets: [
        { period: 'month', per_end_user: true, amount_usd: '0.5' },
        { period: 'window', hours: 24, model: 'demo/*', amount_usd: '6' },
      ],
    },
    {
      name: 'batch jobs',
      scopes: ['chat'],
      allowed_models: ['demo/small', 'demo/standard', 'demo/reasoner'],
      ip_allowlist: ['127.0.0.1', '10.0.0.0/8'],
    },
    { name: 'Grafana, reads only', scopes: ['usage:read'], expires_on: '2027-03-31' },
    { name: 'old laptop', scopes: ['chat'] },
  ];
  const created: { readonly id: string; readonly secret: string }[] = [];
  for (const body of keys) {
    const { key, secret } = await admin.call<{ key: { id: string }; secret: string }>(
      'POST',
      `${path}/keys`,
      body,
    );
    created.push({ id: key.id, secret });
  }
  const [production, batch, , laptop] = created;
  if (!production || !batch || !laptop) throw new Error('the keys were not created');
  await admin.call('POST', `${path}/keys/${laptop.id}/revoke`, {});
  const expiresOn = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
  for (const [name, access] of [
    ['nightly report', 'read'],
    ['provisioning', 'read_write'],
  ]) {
    const token = { name, access, expires_on: expiresOn };
    await admin.call('POST', `${path}/management-tokens`, { ...token, role: 'admin' });
    await admin.call('POST', '/api/management-tokens', token);
  }
  const ceilings = { ...NO_LIMITS, requests_per_minute: 6000, tokens_per_minute: 10_000_000 };
  await admin.call('PUT', `${path}/ceilings`, ceilings);
  await admin.call('PUT', `${path}/limits`, {
    requests_per_minute: 1200,
    tokens_per_minute: 2_000_000,
    daily_budget_usd: '100',
    monthly_budget_usd: '1500',
    total_budget_usd: null,
    concurrency: 64,
    max_output_tokens: 32_768,
    multiple_completions: false,
  });
  await admin.call('PUT', `${path}/credit-alert`, {
    threshold_usd: '50',
    webhook_url: 'https://hooks.example.com/credit',
    emails: ['billing@northwind.example'],
  });
  const { dashboardUrl } = testEnv.gateway;
  const ada = { name: 'Ada Lovelace', email: 'ada@northwind.example' };
  const grace = { name: 'Grace Hopper', email: 'grace@northwind.example' };
  await personWith(admin, dashboardUrl, { organizationId, ...ada, role: 'owner' });
  await personWith(admin, dashboardUrl, { organizationId, ...grace, role: 'admin' });
  await personWith(admin, dashboardUrl, { organizationId, email: 'linus@northwind.example', role: 'member' });
  await inviteTo(admin, organizationId, 'barbara@northwind.example', 'member');
  const emptyId = await createOrganization(admin, 'Nothing Yet');
  const suspendedId = await createOrganization(admin, 'Contoso');
  await admin.call('POST', `/api/organizations/${suspendedId}/suspend`, { reason: 'invoice 4690 is unpaid' });

  const secrets = { production: production.secret, batch: batch.secret };
  const generationId = await useKeys(testEnv, secrets, 12);
  return { organizationId, emptyId, keyId: production.id, projectId: project.id, generationId, secrets };
}

async function createOrganization(admin: AdminClient, name: string): Promise<string> {
  const { organization } = await admin.call<{ organization: { id: string } }>('POST', '/api/organizations', {
    name,
  });
  return organization.id;
}

const MODELS = ['demo/small', 'demo/standard', 'demo/small', 'demo/reasoner'];

/** Sends typical requests; some are cancelled or hit a failing provider. Returns the last generation's id once it is settled. */
export async function useKeys(
  testEnv: TestEnv,
  secrets: Seeded['secrets'],
  requests: number,
): Promise<string> {
  let generationId = '';
  for (let number = 0; number < requests; number += 1) {
    const secret = number % 3 === 2 ? secrets.batch : secrets.production;
    const prompt = `Say something about the number ${number}. ${'More. '.repeat(number * 8)}`;
    const request = {
      model: MODELS[number % MODELS.length] ?? 'demo/small',
      max_tokens: 60 + 40 * (number % 16),
      ...(number % 2 === 0 ? { user: 'customer-17' } : {}),
    };
    const client = testEnv.client(secret);
    if (number % 5 === 3) {
      const fault = number % 10 === 3 ? '[[fault:cut-after:6]]' : '[[fault:fail-first:1:503]]';
      const stream = await client.chat.completions.create({
        ...request,
        stream: true,
        messages: [{ role: 'user', content: `${prompt} ${fault}` }],
      });
      await consume(stream);
      continue;
    }
    const completion = await client.chat.completions.create({
      ...request,
      messages: [{ role: 'user', content: prompt }],
    });
    generationId = completion.id;
  }
  await waitUntilSettled(testEnv, secrets.production, generationId);
  return generationId;
}

/** Ignores API errors: failed generations belong in the history, too. */
async function consume(stream: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const chunk of stream) void chunk;
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
  }
}

async function waitUntilSettled(testEnv: TestEnv, apiKey: string, generationId: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${testEnv.gateway.baseUrl}/generation?id=${generationId}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    await response.body?.cancel();
    if (response.ok) return;
    await delay(50);
  }
}
