import { AdminCallFailed, type Tenant } from '@gateway/test-support';
import { usageOnceAllCharged } from './testing/accounting';
import { sendRequest } from './testing/api-document';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly metadata: object };
}

describe('budgets of models and of end users', () => {
  let testEnv: TestEnv;

  beforeAll(async () => {
    testEnv = await startTestEnv({ env: { GATEWAY_ENDPOINTS: 'chat,messages,responses,embeddings' } });
  });
  afterAll(() => testEnv?.stop());

  const messages = [{ role: 'user', content: 'Hello' }];
  const send = (apiKey: string, path: string, body: object) =>
    sendRequest(testEnv.gateway.baseUrl, apiKey, `POST /v1/${path}`, { body });
  /** The status, and for an error its code and metadata. */
  async function outcome(apiKey: string, path: string, body: object) {
    const { status, body: text } = await send(apiKey, path, body);
    if (status === 200) return { status };
    const { code, metadata } = (JSON.parse(text) as ErrorBody).error;
    return { status, code, metadata };
  }
  const keyWith = (tenant: Tenant, budgets: readonly object[]) =>
    testEnv.admin.call<{ key: { id: string }; secret: string }>(
      'POST',
      `/api/organizations/${tenant.organizationId}/keys`,
      { name: 'limited', scopes: ['chat', 'usage:read'], budgets },
    );

  it('limit each end user of a key in every API, and no other one', async () => {
    const tenant = await testEnv.tenant();
    // A response of the emulator costs less; a request that may cost more is refused.
    const { key, secret } = await keyWith(tenant, [
      { period: 'month', per_end_user: true, amount_usd: '0.0005' },
    ]);
    const small = { model: 'demo/small', max_tokens: 4 };
    const large = { model: 'demo/small', max_tokens: 4_000 };
    const refused = {
      status: 402,
      code: 'insufficient_credits',
      metadata: expect.objectContaining({
        scope: 'end_user',
        limit_type: 'monthly_budget',
        period: 'month',
        limit: 0.0005,
      }) as object,
    };
    expect(await outcome(secret, 'chat/completions', { ...small, messages, user: 'alice' })).toEqual({
      status: 200,
    });
    expect(await outcome(secret, 'chat/completions', { ...large, messages, user: 'alice' })).toEqual(refused);
    expect(await outcome(secret, 'messages', { ...large, messages, metadata: { user_id: 'alice' } })).toEqual(
      refused,
    );
    expect(
      await outcome(secret, 'responses', {
        model: 'demo/small',
        input: 'Hello',
        max_output_tokens: 4_000,
        safety_identifier: 'alice',
      }),
    ).toEqual(refused);

    const used = Array.from({ length: 100 }, () =>
      outcome(secret, 'chat/completions', { ...small, max_tokens: 200, messages, user: 'bob' }),
    );
    const outcomes = await Promise.all(used);
    expect(outcomes.some(({ status }) => status === 402)).toBe(true);
    expect(await outcome(secret, 'chat/completions', { ...small, messages, user: 'carol' })).toEqual({
      status: 200,
    });
    expect(await outcome(secret, 'chat/completions', { ...small, messages })).toEqual({ status: 200 });
    await usageOnceAllCharged(testEnv.gateway.baseUrl, secret);
    const usage = await sendRequest(testEnv.gateway.baseUrl, secret, 'GET /v1/usage?group_by=user', {});
    const { data } = JSON.parse(usage.body) as { data: { user: string | null; total_cost: number }[] };
    const { data: closest } = await testEnv.admin.call<{
      data: { end_user: string | null; spent_usd: string; held_usd: string }[];
    }>('GET', `/api/organizations/${tenant.organizationId}/keys/${key.id}/end-user-spend?period=month`);
    const spent = closest.map(({ end_user, spent_usd }) => [end_user, Number(spent_usd)]);
    expect(Object.fromEntries(spent)).toEqual(
      Object.fromEntries(data.map((row) => [row.user, row.total_cost])),
    );
    expect(closest[0]?.end_user).toBe('bob');
    expect(data.map(({ user }) => user)).toEqual(expect.arrayContaining(['alice', 'bob', 'carol', null]));
    for (const { total_cost: cost } of data) expect(cost).toBeLessThanOrEqual(0.0005);
  });

  it('limit some models for an organization, with their use', async () => {
    const tenant = await testEnv.tenant();
    const path = `/api/organizations/${tenant.organizationId}`;
    const budgets = [{ period: 'day', model: 'demo/s*', amount_usd: '0.000000001' }];
    await testEnv.admin.call('PUT', `${path}/limits`, { budgets });
    const chat = { max_tokens: 4, messages };
    expect(await outcome(tenant.apiKey, 'chat/completions', { ...chat, model: 'demo/small' })).toEqual({
      status: 429,
      code: 'daily_budget_exceeded',
      metadata: expect.objectContaining({ scope: 'organization', model: 'demo/s*' }) as object,
    });
    expect(await outcome(tenant.apiKey, 'chat/completions', { ...chat, model: 'demo/vision' })).toEqual({
      status: 200,
    });
    await testEnv.admin.call('PUT', `${path}/limits`, {
      budgets: [{ ...budgets[0], amount_usd: '1' }],
    });
    expect(await outcome(tenant.apiKey, 'chat/completions', { ...chat, model: 'demo/small' })).toEqual({
      status: 200,
    });
    await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey);
    const { spend, models } = await testEnv.admin.call<{
      spend: { today_usd: string };
      models: { model: string; today_usd: string; held_usd: string }[];
    }>('GET', `${path}/budget-spend?models=demo/s*,demo/vision`);
    const [small, large] = models;
    expect(small).toMatchObject({ model: 'demo/s*', held_usd: '0' });
    expect(Number(small?.today_usd)).toBeGreaterThan(0);
    expect(Number(small?.today_usd)).toBeLessThan(Number(spend.today_usd));
    // It has no budget, so nothing was counted.
    expect(large).toMatchObject({ model: 'demo/vision', today_usd: '0' });
  });

  it('are refused where they cannot apply', async () => {
    const tenant = await testEnv.tenant();
    const both = [{ period: 'day', model: 'demo/small', per_end_user: true, amount_usd: '1' }];
    await expect(keyWith(tenant, both)).rejects.toBeInstanceOf(AdminCallFailed);
  });
});
