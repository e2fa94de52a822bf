import OpenAI from 'openai';
import { credits, nano, settledGeneration, usageOnceAllCharged } from './testing/accounting';
import { eventually } from './testing/eventually';
import { startTestEnv, type TestEnv } from './testing/test-env';

jest.setTimeout(120_000);

describe('money when the gateway is killed', () => {
  let testEnv: TestEnv;
  const model = 'demo/small';

  beforeAll(async () => {
    testEnv = await startTestEnv();
  });

  afterAll(() => testEnv?.stop());

  const base = () => testEnv.gateway.baseUrl;

  it('charges every finished request of fifty exactly once', async () => {
    const tenant = await testEnv.tenant({ credit: '50.00' });
    const client = testEnv.client(tenant.apiKey);
    const finished: { id: string; cost: bigint }[] = [];
    const running = Array.from({ length: 50 }, async (_, index) => {
      try {
        const completion = await client.chat.completions.create({
          model,
          max_tokens: 30,
          messages: [{ role: 'user', content: `[[delay:${index * 30}]] Hello ${index}` }],
        });
        finished.push({
          id: completion.id,
          cost: nano((completion.usage as unknown as { cost: number }).cost),
        });
      } catch {
        // The crash interrupts the others.
      }
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
