import { eventDataOf, isClusterDeployment } from '@gateway/test-support';
import type OpenAI from 'openai';
import { credits, nano, nothingReserved, settledGeneration } from './testing/accounting';
import { writeModelsOfAllDialects } from './testing/dialect-models';
import { modelPrefixOf, otherDialects } from './testing/dialects';
import { joinTestEnv, type SharedTestEnv } from './testing/test-env';

jest.setTimeout(120_000);

interface EmulatorStats {
  in_flight: number;
  cancelled: number;
}

describe('money when requests fail', () => {
  let testEnv: SharedTestEnv;
  const model = 'demo/small';
  /** One of each dialect. The shared cluster has only the models of the repository. */
  const models = [
    model,
    ...(isClusterDeployment() ? [] : otherDialects.map((dialect) => `${modelPrefixOf(dialect)}standard`)),
  ];

  beforeAll(async () => {
    testEnv = await joinTestEnv(writeModelsOfAllDialects());
  });

  afterAll(() => testEnv?.stop());

  const base = () => testEnv.gateway.baseUrl;
  const emulatorStats = async () =>
    (await (await fetch(`${testEnv.emulatorUrl}/_emulator/stats`)).json()) as EmulatorStats;

  it('rejects a request that the balance does not cover, names both amounts, and accepts it after a top-up', async () => {
    const tenant = await testEnv.tenant({ credit: '0.0000001' });
    const client = testEnv.client(tenant.apiKey);
    const complete = () =>
      client.chat.completions.create({
        model,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Hello' }],
      });

    const rejection = (await complete().catch((error: unknown) => error)) as InstanceType<
      typeof OpenAI.APIError
    >;
    expect(rejection).toMatchObject({
      status: 402,
      code: 'insufficient_credits',
      type: 'insufficient_credits',
    });
    const { metadata } = rejection.error as {
      metadata: { available: number; estimated_cost: number; currency: string };
    };
    const before = await credits(base(), tenant.apiKey);
    expect(metadata.currency).toBe('USD');
    expect(metadata.available).toBe(before.available);
    expect(metadata.available).toBe(0.0000001);
    expect(metadata.estimated_cost).toBeGreaterThan(metadata.available);
    expect(before.reserved).toBe(0);

    await tenant.addCredit('1.00');
    await expect(complete()).resolves.toMatchObject({ object: 'chat.completion' });
  });

  it('admits exactly as many concurrent requests as the balance covers', async () => {
    // The first rejection contains the hold of one request. Then credit for five requests is added.
    const tenant = await testEnv.tenant({ credit: '0.000000001' });
    const client = testEnv.client(tenant.apiKey);
    const complete = () =>
      client.chat.completions.create({
        model,
        max_tokens: 50,
        messages: [{ role: 'user', content: '[[delay:1500]] Hello' }],
      });
    const rejection = (await complete().catch((error: unknown) => error)) as InstanceType<
      typeof OpenAI.APIError
    >;
    const { estimated_cost: held } = (rejection.error as { metadata: { estimated_cost: number } }).metadata;
    const five = nano(held) * 5n - 1n;
    await tenant.addCredit(`${five / 1_000_000_000n}.${(five % 1_000_000_000n).toString().padStart(9, '0')}`);

    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, complete));
    const admitted = outcomes.filter(({ status }) => status === 'fulfilled');
    const rejected = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as { code: string }).code] : [],
    );
    expect(admitted).toHaveLength(5);
    expect(rejected).toEqual(Array.from({ length: 7 }, () => 'insufficient_credits'));
    expect((await nothingReserved(base(), tenant.apiKey)).available).toBeGreaterThanOrEqual(0);
  });

  it.each(models)(
    '%s: cancels the generation when the client disconnects, settles it once, and releases hold and slot',
    async (model) => {
      const tenant = await testEnv.tenant({ limits: { concurrency: 1 } });
      const client = testEnv.client(tenant.apiKey);
      const cancelledBefore = (await emulatorStats()).cancelled;
      const stream = await client.chat.completions.create({
        model,
        stream: true,
        max_tokens: 400,
        messages: [{ role: 'user', content: '[[tokens:400]] [[rate:50]] Tell me a long story.' }],
      });
      let id = '';
      let chunks = 0;
      for await (const chunk of stream) {
        id = chunk.id;
        chunks += 1;
        if (chunks === 5) break;
      }
      stream.controller.abort();

      const generation = await settledGeneration(base(), tenant.apiKey, id);
      expect(generation.cancelled).toBe(true);
      expect(generation.tokens_completion).toBeGreaterThan(0);
      expect(generation.tokens_completion).toBeLessThan(400);
      expect((await emulatorStats()).cancelled).toBe(cancelledBefore + 1);

      const after = await nothingReserved(base(), tenant.apiKey);
      expect(nano(after.total_usage)).toBe(nano(generation.total_cost));
      // The only slot was released.
      await expect(
        client.chat.completions.create({ model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }),
      ).resolves.toMatchObject({ object: 'chat.completion' });
    },
  );

  it.each(models)(
    '%s: ends a stream that the provider cuts off with an error chunk and [DONE], and settles it',
    async (model) => {
      const tenant = await testEnv.tenant();
      const response = await fetch(`${base()}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          stream: true,
          max_tokens: 100,
          messages: [{ role: 'user', content: '[[fault:cut-after:5]] Hello' }],
        }),
      });
      expect(response.status).toBe(200);
      const events = eventDataOf(await response.text());
      expect(events.at(-1)).toBe('[DONE]');
      const last = JSON.parse(events.at(-2) ?? '') as {
        id: string;
        choices: { finish_reason: string }[];
        error: { code: string; type: string; message: string; metadata: object };
      };
      expect(last.choices[0]?.finish_reason).toBe('error');
      expect(last.error).toMatchObject({ code: 'upstream_error', type: 'api_error', metadata: {} });
      const generation = await settledGeneration(base(), tenant.apiKey, last.id);
      expect(generation.finish_reason).toBe('error');
      expect(generation.tokens_completion).toBeGreaterThan(0);
      await nothingReserved(base(), tenant.apiKey);
    },
  );

  it.each(models)('%s: retries a provider that fails before its first byte', async (model) => {
    const tenant = await testEnv.tenant();
    const client = testEnv.client(tenant.apiKey);
    for (const stream of [false, true]) {
      const response = await client.chat.completions.create({
        model,
        stream,
        max_tokens: 20,
        messages: [
          { role: 'user', content: `[[fault:fail-first:1]] Hello, ${stream ? 'streamed' : 'not streamed'}` },
        ],
      });
      if (Symbol.asyncIterator in response) {
        let text = '';
        for await (const chunk of response) text += chunk.choices[0]?.delta.content ?? '';
        expect(text).toMatch(/\S/);
      } else {
        expect(response.choices[0]?.message.content).toMatch(/\S/);
      }
    }
  });

  it.each(models)(
    '%s: charges and reserves nothing when every attempt at the provider fails',
    async (model) => {
      const tenant = await testEnv.tenant({ limits: { concurrency: 1, requests_per_minute: 3 } });
      const client = testEnv.client(tenant.apiKey);
      const failure = (await client.chat.completions
        .create({ model, max_tokens: 20, messages: [{ role: 'user', content: '[[fault:500]] Hello' }] })
        .catch((error: unknown) => error)) as InstanceType<typeof OpenAI.APIError>;
      expect(failure).toMatchObject({ status: 502, code: 'upstream_error' });
      const after = await nothingReserved(base(), tenant.apiKey);
      expect(after.total_usage).toBe(0);
    },
  );
});
