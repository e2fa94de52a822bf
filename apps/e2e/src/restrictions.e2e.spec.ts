import { AdminCallFailed, NO_LIMITS, signIn, type AdminClient, type Tenant } from '@gateway/test-support';
import { personWith, PASSWORD } from './testing/people';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(60_000);

describe('a key that is revoked during its stream', () => {
  let testEnv: SharedTestEnv;

  beforeAll(async () => {
    testEnv = await joinTestEnv();
  });

  afterAll(() => testEnv?.stop());

  it('is rejected in new requests, while its stream finishes with usage', async () => {
    const tenant = await testEnv.tenant();
    const { apiKey, keyId } = await tenant.createKey();
    const stream = await testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 40,
      messages: [{ role: 'user', content: '[[tokens:40]] [[rate:20]] Hello' }],
    });
    let finish: string | null | undefined;
    let completionTokens = 0;
    let revoked = false;
    for await (const chunk of stream) {
      if (!revoked) {
        revoked = true;
        await tenant.revokeKey(keyId);
        const refused = await Promise.all(
          ['/models', '/credits', '/usage'].map((path) =>
            fetch(`${testEnv.gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${apiKey}` } }),
          ),
        );
        for (const response of refused) {
          expect(await response.json()).toMatchObject({ error: { code: 'key_revoked' } });
        }
      }
      finish = chunk.choices[0]?.finish_reason ?? finish;
      completionTokens = chunk.usage?.completion_tokens ?? completionTokens;
    }
    expect(finish).toBe('stop');
    expect(completionTokens).toBe(40);
  });
});

describe('ceilings that operators set', () => {
  let testEnv: SharedTestEnv;
  let owner: AdminClient;
  let tenant: Tenant;
  let path: string;

  beforeAll(async () => {
    testEnv = await joinTestEnv();
    tenant = await testEnv.tenant();
    path = `/api/organizations/${tenant.organizationId}`;
    const { dashboardUrl } = testEnv.gateway;
    const email = `${tenant.organizationId.toLowerCase()}@example.com`;
    await personWith(testEnv.admin, dashboardUrl, {
      organizationId: tenant.organizationId,
      email,
      role: 'owner',
    });
    owner = await signIn(dashboardUrl, email, PASSWORD);
  });

  afterAll(() => testEnv?.stop());

  const setCeilings = (ceilings: object) =>
    testEnv.admin.call('PUT', `${path}/ceilings`, { ...NO_LIMITS, ...ceilings });
  const setLimits = (limits: object) => owner.call('PUT', `${path}/limits`, { ...NO_LIMITS, ...limits });
  const refusal = (call: Promise<unknown>) =>
    call.then(
      () => 'accepted',
      (error: unknown) => (error instanceof AdminCallFailed ? error.body : error),
    );
  const twoCompletions = async () => {
    const response = await fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'demo/small',
        n: 2,
        max_tokens: 4,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    const body = (await response.json()) as { error?: { code: string } };
    return body.error?.code ?? 'ok';
  };

  it('keep owners from allowing multiple completions, and from removing limits', async () => {
    await setCeilings({ requests_per_minute: 1_000, multiple_completions: false });
    expect(await refusal(setLimits({ multiple_completions: true }))).toMatchObject({
      error: { code: 'invalid', param: 'multiple_completions' },
    });
    expect(await refusal(setLimits({ requests_per_minute: 1_001 }))).toMatchObject({
      error: { code: 'invalid', param: 'requests_per_minute' },
    });
    expect(await refusal(owner.call('PUT', `${path}/ceilings`, NO_LIMITS))).toMatchObject({
      error: { code: 'forbidden' },
    });
    expect(await twoCompletions()).toBe('n_not_allowed');
  });

  it('take effect at every edge before the operator has the response', async () => {
    await setCeilings({ multiple_completions: true });
    await setLimits({ multiple_completions: true });
    expect(await twoCompletions()).toBe('ok');
    await setCeilings({ multiple_completions: false });
    expect(await twoCompletions()).toBe('n_not_allowed');
    await setCeilings({ requests_per_minute: 1 });
    // A request may start a new minute.
    const codes = [await chatOnce(), await chatOnce(), await chatOnce()];
    expect(codes).toContain('rpm_exceeded');
  });

  async function chatOnce(): Promise<string> {
    const { apiKey } = tenant;
    const completion = testEnv.client(apiKey).chat.completions.create({
      model: 'demo/small',
      max_tokens: 4,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    return completion.then(
      () => 'ok',
      (error: { code?: string }) => error.code ?? 'error',
    );
  }
});
