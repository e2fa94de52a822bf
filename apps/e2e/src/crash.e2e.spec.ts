import OpenAI from 'openai';
import { credits, nano, settledGeneration, usageOnceAllCharged } from './testing/accounting';
import { writeModelsOfAllDialects } from './testing/dialect-models';
import { eventually } from './testing/eventually';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

const model = 'demo/small';

interface Finished {
  readonly id: string;
  readonly cost: bigint;
}

const costOf = (usage: unknown) => nano((usage as { cost: number }).cost);

/** One request of each kind that is settled. */
const requests: Readonly<Record<string, (client: OpenAI, text: string) => Promise<Finished>>> = {
  async completions(client, content) {
    const { id, usage } = await client.chat.completions.create({
      model,
      max_tokens: 30,
      messages: [{ role: 'user', content }],
    });
    return { id, cost: costOf(usage) };
  },
  async embeddings(client, input) {
    const request = client.embeddings.create({ model: 'dialect/openai-embed', input });
    const { data, response } = await request.withResponse();
    return { id: response.headers.get('x-generation-id') ?? '', cost: costOf(data.usage) };
  },
};

describe('money when the gateway is killed', () => {
  let testEnv: TestEnv;

  beforeAll(async () => {
    const { modelsFile, env } = writeModelsOfAllDialects();
    testEnv = await startTestEnv({ modelsFile, env: { ...env, GATEWAY_ENDPOINTS: 'chat,embeddings' } });
  });

  afterAll(() => testEnv?.stop());

  const base = () => testEnv.gateway.baseUrl;

  it.each(Object.keys(requests))('charges every finished request of fifty %s exactly once', async (kind) => {
    const tenant = await testEnv.tenant({ credit: '50.00' });
    const client = testEnv.client(tenant.apiKey);
    const finished: Finished[] = [];
    const running = Array.from({ length: 50 }, async (_, index) => {
      const sent = requests[kind]?.(client, `[[delay:${index * 30}]] Hello ${index}`);
      // The crash interrupts the others.
      const one = await sent?.catch(() => undefined);
      if (one) finished.push(one);
    });
    await eventually('some requests have finished', async () => (finished.length >= 10 ? true : undefined));
    await testEnv.crashAndRestart();
    await Promise.all(running);
    expect(finished.length).toBeLessThan(50);

    // Every response that a client received is charged once. Others may have finished without the client noticing.
    for (const { id, cost } of finished) {
      const generation = await settledGeneration(base(), tenant.apiKey, id);
      expect(nano(generation.total_cost)).toBe(cost);
    }
    const now = await credits(base(), tenant.apiKey);
    expect(nano(now.balance)).toBe(nano(now.total_credits) - nano(now.total_usage));
    expect(nano(now.available)).toBe(nano(now.balance) - nano(now.reserved));
    const { totals: usage } = await usageOnceAllCharged(base(), tenant.apiKey, { ignoreHolds: true });
    expect(usage.requests).toBeGreaterThanOrEqual(finished.length);
    expect(usage.requests).toBeLessThanOrEqual(50);

    // The demo key from before the crash still works.
    const demo = new OpenAI({ baseURL: base(), apiKey: testEnv.gateway.apiKey, maxRetries: 0 });
    await expect(
      demo.chat.completions.create({ model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }),
    ).resolves.toMatchObject({ object: 'chat.completion' });
  });
});
