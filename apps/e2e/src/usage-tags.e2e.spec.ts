import type { Tenant } from '@gateway/test-support';
import { nano, usageOnceAllCharged } from './testing/accounting';
import { sendRequest } from './testing/api-document';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(60_000);

interface Report {
  readonly totals: Sums;
  readonly data: readonly (Sums & { readonly user?: string | null; readonly tag?: string | null })[];
}

interface Sums {
  readonly requests: number;
  readonly total_cost: number;
}

describe('usage by end user and by tag', () => {
  let testEnv: TestEnv;
  let tenant: Tenant;

  beforeAll(async () => {
    testEnv = await startTestEnv({ env: { GATEWAY_ENDPOINTS: 'chat,messages,responses' } });
    tenant = await testEnv.tenant();
  });
  afterAll(() => testEnv?.stop());

  const request = (operation: `${'GET' | 'POST'} /v1/${string}`, body?: object) =>
    sendRequest(testEnv.gateway.baseUrl, tenant.apiKey, operation, { body });
  const send = async (path: string, body: object) =>
    (await request(`POST /v1/${path}`, { model: 'demo/small', ...body })).status;
  const messages = [{ role: 'user', content: 'Hello' }];

  async function usage(query: string): Promise<Report> {
    return JSON.parse((await request(`GET /v1/usage?${query}`)).body) as Report;
  }

  it('charges each customer of a customer, with the metadata of every API, and stores no other metadata', async () => {
    const organization = `/api/organizations/${tenant.organizationId}`;
    expect(await send('chat/completions', { messages, max_tokens: 4, metadata: { team: 'before' } })).toBe(
      200,
    );
    await testEnv.admin.call('PUT', `${organization}/usage-tags`, { usage_tags: ['team'] });
    const chat = { messages, max_tokens: 4 };
    const sent = await Promise.all([
      send('chat/completions', { ...chat, user: 'alice', metadata: { team: 'blue', other: 'not stored' } }),
      send('chat/completions', { ...chat, user: 'bob' }),
      send('chat/completions', { ...chat, metadata: { team: { nested: true } } }),
      send('responses', { input: 'Hello', max_output_tokens: 16, user: 'alice', metadata: { team: 'blue' } }),
      send('messages', { messages, max_tokens: 4, metadata: { user_id: 'bob', team: 'red' } }),
    ]);
    expect(sent).toEqual([200, 200, 200, 200, 200]);
    await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey);
    const byKey = await usage('group_by=api_key');
    expect(byKey.totals.requests).toBe(6);

    const byTag = await usage('group_by=tag:team');
    expect(byTag.data.map(({ tag, requests }) => [tag, requests])).toEqual([
      ['blue', 2],
      ['red', 1],
      [null, 3],
    ]);
    const byUser = await usage('group_by=user');
    expect(byUser.data.map(({ user, requests }) => [user, requests])).toEqual([
      ['alice', 2],
      ['bob', 2],
      [null, 2],
    ]);
    for (const { data, totals } of [byTag, byUser]) {
      expect(totals).toEqual(byKey.totals);
      const cost = data.reduce((sum, row) => sum + nano(row.total_cost), 0n);
      expect(cost).toBe(nano(byKey.totals.total_cost));
    }

    // The gateway is killed while it settles some of these.
    const more = Array.from({ length: 20 }, (_, index) =>
      send('chat/completions', {
        ...chat,
        user: `user-${index % 3}`,
        metadata: { team: `team-${index % 2}` },
      }),
    );
    await Promise.all(more);
    await testEnv.crashAndRestart();
    await usageOnceAllCharged(testEnv.gateway.baseUrl, tenant.apiKey, { ignoreHolds: true });
    const { totals } = await usage('group_by=api_key');
    for (const query of ['group_by=user', 'group_by=tag:team', 'group_by=day,user']) {
      const report = await usage(query);
      expect(report.totals).toEqual(totals);
      const cost = report.data.reduce((sum, row) => sum + nano(row.total_cost), 0n);
      expect(cost).toBe(nano(totals.total_cost));
    }

    const list = await testEnv.admin.call<{ data: unknown[] }>('GET', `${organization}/generations`);
    expect(list.data).toHaveLength(totals.requests);
    expect(JSON.stringify(list)).not.toMatch(/not stored|before|nested/);
    const blue = await testEnv.admin.call<{ data: { tags: object }[] }>(
      'GET',
      `${organization}/generations?tag=team:blue`,
    );
    expect(blue.data.map(({ tags }) => tags)).toEqual([{ team: 'blue' }, { team: 'blue' }]);
  });
});
