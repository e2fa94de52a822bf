import { createTenant, eventually, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import { USAGE_SCHEMA } from '@gateway/usage';
import { expectEverythingSettled } from './testing/ledger-checks';
import { MODEL } from './testing/chat-completion';
import { startCrashTestEnv, type CrashTestEnv } from './testing/crash-test-env';

jest.setTimeout(180_000);

interface ErrorCount {
  readonly code: string;
  readonly refused: number;
  readonly failed: number;
}
interface Totals {
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  readonly duration: object | null;
}
interface RefusedRequest {
  readonly request_id: string;
  readonly model: string | null;
  readonly error_code: string;
  readonly error_message: string;
}

const DAY_MS = 86_400_000;

describe('requests that end with an error', () => {
  let testEnv: CrashTestEnv;
  let admin: AdminClient;

  beforeAll(async () => {
    testEnv = await startCrashTestEnv();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    admin = await signIn(dashboardUrl, adminEmail, adminPassword);
  });
  afterAll(() => testEnv?.close());

  const chat = (
    { apiKey }: Pick<Tenant, 'apiKey'>,
    { content = 'Hello', ...body }: Record<string, unknown> = {},
  ) =>
    fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, max_tokens: 5, messages: [{ role: 'user', content }], ...body }),
    });
  const api = <Body>({ organizationId }: Tenant, path: string) =>
    admin.call<Body>('GET', `/api/organizations/${organizationId}${path}`);
  const range = () =>
    new URLSearchParams({
      start: new Date(Date.now() - DAY_MS).toISOString(),
      end: new Date(Date.now() + DAY_MS).toISOString(),
    });
  const errorsOf = async (tenant: Tenant) =>
    (await api<{ data: ErrorCount[] }>(tenant, `/usage/errors?${range()}`)).data;
  const totalsOf = async (tenant: Tenant) =>
    (await api<{ totals: Totals }>(tenant, `/usage?${range()}&granularity=day`)).totals;
  const refusedOf = async (tenant: Tenant, query = '') =>
    (await api<{ data: RefusedRequest[] }>(tenant, `/refused-requests${query}`)).data;
  /** Once this many refused requests are counted. */
  const whenRefused = (tenant: Tenant, expected: number) =>
    eventually(`${expected} refused requests`, async () => {
      const { refused } = await totalsOf(tenant);
      return refused >= expected ? refused : undefined;
    });

  it('a provider that fails at once is an error of usage, and its generation can be found', async () => {
    const tenant = await createTenant(admin);
    for (const stream of [false, true]) {
      const response = await chat(tenant, { content: '[[fault:500]] Hello', stream });
      expect(response.status).toBe(502);
      const id = response.headers.get('x-generation-id');
      const requestId = response.headers.get('x-request-id');
      expect(id).toMatch(/^gen-/);
      const found = await eventually('the failed generation', async () => {
        const url = `${testEnv.gateway.baseUrl}/generation?id=${id}`;
        const looked = await fetch(url, { headers: { authorization: `Bearer ${tenant.apiKey}` } });
        return looked.ok ? ((await looked.json()) as { data: object }).data : undefined;
      });
      expect(found).toMatchObject({
        id,
        request_id: requestId,
        streamed: stream,
        finish_reason: 'error',
        error_code: 'upstream_error',
        total_cost: 0,
        tokens_prompt: 0,
        usage_source: null,
      });
      const { data } = await admin.call<{ data: object[] }>('GET', `/api/operator/requests?id=${requestId}`);
      expect(data).toMatchObject([
        { generation_id: id, organization: { id: tenant.organizationId, name: expect.stringMatching(/./) } },
      ]);
      const listed = await api<{ data: object[] }>(tenant, `/generations?search=${requestId}`);
      expect(listed.data).toMatchObject([
        { id, status: 'failed', error_code: 'upstream_error', charged_usd: '0' },
      ]);
    }
    expect(await totalsOf(tenant)).toMatchObject({ requests: 2, errors: 2, refused: 0, duration: null });
    expect(await errorsOf(tenant)).toEqual([{ code: 'upstream_error', refused: 0, failed: 2 }]);
    expect(await tenant.balance()).toMatchObject({ total_usage_usd: '0', reserved_usd: '0' });
    await expectEverythingSettled(testEnv.pool);
  });

  it('a request that was refused has no generation ID, and is found by its request ID', async () => {
    const tenant = await createTenant(admin);
    const response = await chat(tenant, { foo: 1 });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-generation-id')).toBeNull();
    const requestId = response.headers.get('x-request-id') ?? '';
    await whenRefused(tenant, 1);
    expect(await refusedOf(tenant, `?request_id=${requestId}`)).toMatchObject([
      {
        request_id: requestId,
        error_code: 'unknown_parameter',
        error_message: "Unknown parameter: 'foo'.",
        model: MODEL,
      },
    ]);
    const other = await createTenant(admin);
    expect(await refusedOf(other, `?request_id=${requestId}`)).toEqual([]);
  });

  it('requests for 2,000 models that do not exist leave a bounded number of rows', async () => {
    const tenant = await createTenant(admin);
    let next = 0;
    const client = async () => {
      while (next < 2_000) await (await chat(tenant, { model: `no/such-${(next += 1)}` })).arrayBuffer();
    };
    await Promise.all(Array.from({ length: 16 }, client));
    await whenRefused(tenant, 2_000);
    const rows = async (table: string) => {
      const { rows: found } = await testEnv.pool.query<{ count: bigint }>(
        `select count(*) as count from ${USAGE_SCHEMA}.${table} where organization_id = $1`,
        [tenant.organizationId],
      );
      return Number(found[0]?.count);
    };
    // One per hour and code; the abuse limit of the key may have refused some.
    expect(await rows('error_counts_hourly')).toBeLessThanOrEqual(4);
    expect(await rows('refused_requests')).toBeLessThanOrEqual(40);
    const errors = await errorsOf(tenant);
    expect(errors.reduce((sum, { refused }) => sum + refused, 0)).toBe(2_000);
  });

  it('a clean stop reports what was refused until then', async () => {
    const tenant = await createTenant(admin);
    for (let n = 0; n < 5; n += 1) await chat(tenant, { model: 'no/such' });
    await testEnv.stopCleanly();
    await testEnv.restart();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    admin = await signIn(dashboardUrl, adminEmail, adminPassword);
    expect(await errorsOf(tenant)).toEqual([{ code: 'model_not_found', refused: 5, failed: 0 }]);
  });

  it('a failed generation survives kill -9 once its error was returned', async () => {
    const tenant = await createTenant(admin);
    const response = await chat(tenant, { content: '[[fault:500]] Hello, killed' });
    const id = response.headers.get('x-generation-id');
    await testEnv.kill();
    await testEnv.restart();
    const { dashboardUrl, adminEmail, adminPassword } = testEnv.gateway;
    admin = await signIn(dashboardUrl, adminEmail, adminPassword);
    await eventually('the failed generation', async () => {
      const { data } = await api<{ data: { id: string }[] }>(tenant, `/generations?status=failed`);
      return data.some((one) => one.id === id) ? true : undefined;
    });
    await expectEverythingSettled(testEnv.pool);
  });
});
