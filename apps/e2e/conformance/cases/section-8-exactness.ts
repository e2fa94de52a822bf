import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  expectedCostNanoUsd,
  nano,
  nothingReserved,
  pricingOf,
  settledGeneration,
  type PublicUsage,
} from '../../src/testing/accounting';
import { eventually } from '../../src/testing/eventually';
import {
  assertError,
  body,
  casesOf,
  chat,
  directive,
  type Deployment,
  type RawResponse,
  everyDialect,
  get,
  inOneMinute,
  LONG_STREAM,
  openStreams,
  completionFormats,
  everyFormat,
} from '../framework';

const CONCURRENT_REQUESTS = 200;
/** Limits are exact to the request, token and nano-dollar. */
export const exactnessCases = casesOf('8', [
  {
    title: 'retry-after and retry-after-ms count down to the end of the minute, when requests succeed again',
    concurrent: true,
    async verify(deployment) {
      const complete = (apiKey: string) => chat(deployment, body(deployment), { apiKey });
      let exhausted = { apiKey: '', ms: 0 };
      await inOneMinute(async () => {
        const { apiKey } = await deployment.tenant({ limits: { requests_per_minute: 1 } });
        assert.equal((await complete(apiKey)).status, 200);
        const first = retryAfterOf(await complete(apiKey));
        await sleep(1_500);
        const second = retryAfterOf(await complete(apiKey));
        assert.ok(second.ms < first.ms && second.seconds < first.seconds, 'the time counts down');
        exhausted = { apiKey, ms: second.ms };
      });
      await sleep(exhausted.ms + 100);
      assert.equal((await complete(exhausted.apiKey)).status, 200, 'a request in the next minute succeeds');
    },
  },
  {
    title: 'an empty window admits one request above the token limit, which exhausts it',
    concurrent: true,
    verify: (deployment) =>
      inOneMinute(async () => {
        const { apiKey } = await deployment.tenant({ limits: { tokens_per_minute: 1 } });
        const complete = () => chat(deployment, body(deployment), { apiKey });
        assert.equal((await complete()).status, 200);
        retryAfterOf(await complete(), 'tpm_exceeded');
      }),
  },
  {
    title: 'reserved but unused tokens are released when a request finishes',
    concurrent: true,
    needs: ['emulator'],
    verify: (deployment) =>
      inOneMinute(async () => {
        // Each request reserves 1,000 tokens and uses about 30.
        const { apiKey } = await deployment.tenant({ limits: { tokens_per_minute: 1_500 } });
        const request = body(deployment, { max_tokens: 1_000, ...directive('[[tokens:5]]') });
        const remaining: number[] = [];
        for (let index = 0; index < 5; index += 1) {
          // Unused tokens are released just after the response.
          const response = await eventually('the unused tokens are released', async () => {
            const received = await chat(deployment, request, { apiKey });
            return received.status === 200 ? received : undefined;
          });
          remaining.push(Number(response.headers['x-ratelimit-remaining-tokens']));
        }
        assert.ok(remaining.at(-1)! > 250, `unused tokens are available again: ${remaining.join()}`);
      }),
  },
  {
    title: 'of 200 concurrent requests, exactly as many as the rpm limit run',
    formats: everyFormat,
    concurrent: true,
    verify: (deployment) =>
      inOneMinute(async () => {
        const limit = 77;
        const { apiKey } = await deployment.tenant({ limits: { requests_per_minute: limit } });
        const responses = await sendConcurrently(() => chat(deployment, body(deployment), { apiKey }));
        assertExactly(responses, limit, 'rpm_exceeded', 'rpm');
      }),
  },
  {
    title: 'of 200 concurrent requests, exactly as many as the tpm limit covers run',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const probe = await deployment.tenant({ limits: { tokens_per_minute: 1_000_000 } });
      const [first] = await streamConcurrently(deployment, {
        apiKeys: [probe.apiKey],
        count: 1,
      });
      const charge = 1_000_000 - Number(first?.headers['x-ratelimit-remaining-tokens']);
      assert.ok(charge > 100);
      await inOneMinute(async () => {
        const { apiKey } = await deployment.tenant({ limits: { tokens_per_minute: charge * 10 - 1 } });
        const responses = await streamConcurrently(deployment, { apiKeys: [apiKey] });
        assertExactly(responses, 9, 'tpm_exceeded', 'tpm');
      });
    },
  },
  {
    title:
      'of 200 concurrent requests, exactly as many as the concurrency limit run; then the slots are released',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { concurrency: 7 } });
      const responses = await streamConcurrently(deployment, { apiKeys: [apiKey] });
      assertExactly(responses, 7, 'rpm_exceeded', 'concurrency');
      for (const { headers, status } of responses)
        if (status === 429) assert.equal(headers['retry-after'], '1');
      await eventually('the slots are released', async () => {
        const { status } = await chat(deployment, body(deployment), { apiKey });
        return status === 200 ? true : undefined;
      });
    },
  },
  {
    title: 'of 200 concurrent requests, exactly as many as the daily budget covers run',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const estimate = await estimateOf(deployment, body(deployment, LONG_STREAM));
      const budget = (estimate * 5.5).toFixed(9);
      const { apiKey } = await deployment.tenant({ limits: { daily_budget_usd: budget } });
      const responses = await streamConcurrently(deployment, { apiKeys: [apiKey] });
      assertExactly(responses, 5, 'daily_budget_exceeded', 'daily_budget');
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
  {
    title: 'of 200 concurrent requests, exactly as many as a weekly, a monthly or a total budget covers run',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const estimate = await estimateOf(deployment, body(deployment, LONG_STREAM));
      const budget = (estimate * 5.5).toFixed(9);
      for (const period of ['weekly', 'monthly', 'total']) {
        const { apiKey } = await deployment.tenant({ limits: { [`${period}_budget_usd`]: budget } });
        const responses = await streamConcurrently(deployment, { apiKeys: [apiKey] });
        assertExactly(responses, 5, 'insufficient_credits', `${period}_budget`);
        await nothingReserved(deployment.baseUrl, apiKey);
      }
    },
  },
  {
    title: 'of 200 concurrent requests by two keys of a project, exactly as many as its budget covers run',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const estimate = await estimateOf(deployment, body(deployment, LONG_STREAM));
      const tenant = await deployment.tenant();
      const project_id = await tenant.createProject({ total_budget_usd: (estimate * 5.5).toFixed(9) });
      const keys = [await tenant.createKey({ project_id }), await tenant.createKey({ project_id })];
      const responses = await streamConcurrently(deployment, {
        apiKeys: keys.map(({ apiKey }) => apiKey),
      });
      assertExactly(responses, 5, 'insufficient_credits', 'total_budget');
      await nothingReserved(deployment.baseUrl, tenant.apiKey);
    },
  },
  {
    title: 'of 200 concurrent requests of a run, exactly as many as its budget covers run',
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      // A request of a run holds the largest input that its provider may report.
      const run = { 'x-run-id': 'agent/0', 'x-run-budget-usd': '1' };
      const estimate = await estimateOf(deployment, body(deployment, LONG_STREAM), run);
      const budget = (estimate * 5.5).toFixed(9);
      const { apiKey } = await deployment.tenant();
      const headers = { 'x-run-id': 'agent/1', 'x-run-budget-usd': budget };
      const responses = await streamConcurrently(deployment, { apiKeys: [apiKey], headers });
      assertExactly(responses, 5, 'insufficient_credits', 'run_budget');
      await nothingReserved(deployment.baseUrl, apiKey);
      const usage = await get(deployment, '/v1/usage?run_id=agent%2F1', { apiKey });
      const { run: used } = usage.json<{
        run: { limit: number; spent: number; held: number; remaining: number };
      }>();
      assert.equal(used.limit, Number(budget));
      assert.equal(used.held, 0);
      assert.ok(used.spent > 0 && used.spent <= used.limit);
      assert.equal(nano(used.remaining), nano(used.limit) - nano(used.spent));
    },
  },
  {
    title: 'of 200 concurrent requests, exactly as many as the balance covers run',
    formats: completionFormats,
    needs: ['emulator'],
    concurrent: true,
    async verify(deployment) {
      const estimate = await estimateOf(deployment, body(deployment, LONG_STREAM));
      const { apiKey } = await deployment.tenant({ credit: (estimate * 6.5).toFixed(9) });
      const responses = await streamConcurrently(deployment, { apiKeys: [apiKey] });
      assertExactly(responses, 6, 'insufficient_credits');
      const { available } = await nothingReserved(deployment.baseUrl, apiKey);
      assert.ok(available >= 0);
    },
  },
  {
    title: 'a request waits while only a running request reserves the credit or the budget that it needs',
    needs: ['emulator'],
    // It waits for a limited time, so other cases must not slow down the request that it waits for.
    async verify(deployment) {
      const request = body(deployment, { max_tokens: 100, ...directive('[[delay:300]]') });
      const amount = ((await estimateOf(deployment, request)) * 1.5).toFixed(9);
      const tenants = [{ credit: amount }, { limits: { daily_budget_usd: amount } }];
      for (const tenant of tenants) {
        const { apiKey } = await deployment.tenant(tenant);
        const responses = await Promise.all([1, 2].map(() => chat(deployment, request, { apiKey })));
        assert.deepEqual(
          responses.map(({ status }) => status),
          [200, 200],
          responses.map(({ text }) => text).join('\n'),
        );
        await nothingReserved(deployment.baseUrl, apiKey);
      }
    },
  },
  {
    title: 'a balance of exactly the estimate is sufficient, and one nano-dollar less is not',
    formats: everyFormat,
    dialects: everyDialect,
    async verify(deployment) {
      const request = body(deployment, { max_tokens: 100 });
      const estimate = await estimateOf(deployment, request);
      const enough = await deployment.tenant({ credit: estimate.toFixed(9) });
      assert.equal((await chat(deployment, request, { apiKey: enough.apiKey })).status, 200);
      const insufficient = await deployment.tenant({ credit: (estimate - 1e-9).toFixed(9) });
      assertError(await chat(deployment, request, { apiKey: insufficient.apiKey }), 'insufficient_credits', {
        metadata: { estimated_cost: estimate },
      });
    },
  },
  {
    title: 'input and max_tokens may fill the context window to the last token',
    async verify(deployment) {
      const model = deployment.model([], ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning']);
      // Many short messages, which every tokenizer counts in the same way. The estimate of too many gives their size.
      const words = 'a '.repeat(Math.ceil(model.context_length / 1_000));
      const messages = (count: number) =>
        Array.from({ length: count }, () => ({ role: 'user', content: words }));
      const tooMany = await chat(
        deployment,
        body(deployment, { model: model.id, messages: messages(2_000), max_tokens: 1 }),
      );
      const each =
        (assertError(tooMany, 'context_length_exceeded').metadata.estimated_tokens as number) / 2_000;
      const filling = messages(Math.ceil((model.context_length - model.max_output_tokens / 2) / each));
      const request = (max_tokens: number) =>
        body(deployment, { model: model.id, messages: filling, max_tokens });
      const over = await chat(deployment, request(model.max_output_tokens));
      const { metadata } = assertError(over, 'context_length_exceeded');
      const input = (metadata.estimated_tokens as number) - model.max_output_tokens;
      const available = model.context_length - input;
      assertError(await chat(deployment, request(available + 1)), 'context_length_exceeded', {
        metadata: { estimated_tokens: model.context_length + 1 },
      });
      const fits = await chat(deployment, request(available));
      assert.equal(fits.status, 200, fits.text.slice(0, 300));
    },
  },
  {
    title: "max_tokens above the model's maximum is reduced to it, and above the context window rejected",
    async verify(deployment) {
      const model = deployment.model([], ['tools', 'vision', 'json_mode', 'structured_outputs', 'reasoning']);
      const withMaxTokens = (max_tokens: number) => body(deployment, { model: model.id, max_tokens });
      // The hold is based on the reduced limit.
      const lowered = withMaxTokens(model.context_length - 1_000);
      assert.ok(model.context_length - 1_000 > model.max_output_tokens);
      const estimate = await estimateOf(deployment, lowered);
      assert.equal(estimate, await estimateOf(deployment, withMaxTokens(model.max_output_tokens)));
      assert.equal((await chat(deployment, lowered)).status, 200);
      assertError(await chat(deployment, withMaxTokens(model.context_length)), 'context_length_exceeded', {
        metadata: { limit: model.context_length },
      });
    },
  },
  {
    title: 'prompt tokens written to and read from the prompt cache cost what the price list says',
    needs: ['emulator'],
    // Gemini writes its cache free of charge, and does not report it.
    dialects: ['anthropic', 'converse'],
    async verify(deployment) {
      const { apiKey } = deployment.shared;
      const model = deployment.model(['tools'], ['vision']).id;
      const pricing = await pricingOf(deployment.baseUrl, apiKey, model);
      const prices = [pricing.prompt, pricing.input_cache_read, pricing.input_cache_write];
      assert.equal(new Set(prices).size, 3, `three different prices: ${prices.join()}`);
      const text = `${randomUUID()} ${'You are careful. '.repeat(500)}`;
      const message = (role: string, part: string) => ({
        role,
        content: [{ type: 'text', text: part, cache_control: { type: 'ephemeral' } }],
      });
      const cached: number[] = [];
      for (const question of ['One?', `Two? ${'And more. '.repeat(200)}`]) {
        const messages = [message('system', text), message('user', question)];
        const request = { model, max_tokens: 5, messages };
        const response = await chat(deployment, request, { apiKey });
        assert.equal(response.status, 200, response.text);
        const { id, usage } = response.json<{ id: string; usage: PublicUsage & { cost: number } }>();
        const { cached_tokens: read = 0, cache_write_tokens: written = 0 } =
          usage.prompt_tokens_details ?? {};
        cached.push(read);
        assert.ok(written >= 128, `${written} tokens were written`);
        const cost = expectedCostNanoUsd(usage, pricing);
        assert.equal(nano(usage.cost), cost);
        const generation = await settledGeneration(deployment.baseUrl, apiKey, id);
        assert.equal(nano(generation.total_cost), cost);
        assert.equal(generation.native_tokens_cache_write, written);
      }
      assert.ok(cached[0] === 0 && cached[1]! >= 1_024, `cached tokens: ${cached.join()}`);
    },
  },
  {
    title: 'the error says when a single request could exceed the whole daily budget',
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { daily_budget_usd: '0.000000002' } });
      assertError(await chat(deployment, body(deployment), { apiKey }), 'daily_budget_exceeded', {
        messageHas: [/alone/],
      });
    },
  },
  {
    title: 'a client that disconnects releases its slot and its reservation',
    formats: completionFormats,
    needs: ['emulator'],
    dialects: everyDialect,
    async verify(deployment) {
      const { apiKey } = await deployment.tenant({ limits: { concurrency: 1 } });
      const { responses, cancel } = await openStreams(deployment, body(deployment, LONG_STREAM), [
        { apiKey },
      ]);
      assert.equal(responses[0]?.status, 200);
      await cancel();
      await eventually('the slot is released', async () => {
        const { status } = await chat(deployment, body(deployment), { apiKey });
        return status === 200 ? true : undefined;
      });
      await nothingReserved(deployment.baseUrl, apiKey);
    },
  },
]);

function sendConcurrently(request: () => Promise<RawResponse>): Promise<RawResponse[]> {
  return Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, request));
}

interface StreamOptions {
  /** The requests use them in turn. */
  readonly apiKeys: readonly string[];
  readonly count?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts concurrent streams, and cancels those that run after each request has a status. */
async function streamConcurrently(
  deployment: Deployment,
  { apiKeys, count = CONCURRENT_REQUESTS, headers = {} }: StreamOptions,
): Promise<readonly RawResponse[]> {
  const each = Array.from({ length: count }, (_, index) => ({
    apiKey: apiKeys[index % apiKeys.length] ?? '',
    headers,
  }));
  const { responses, cancel } = await openStreams(deployment, body(deployment, LONG_STREAM), each);
  await cancel();
  return responses;
}

function assertExactly(
  responses: readonly RawResponse[],
  admitted: number,
  code: Parameters<typeof assertError>[1],
  limitType?: string,
): void {
  assert.equal(responses.filter(({ status }) => status === 200).length, admitted);
  for (const response of responses) {
    if (response.status === 200) continue;
    assertError(response, code, limitType ? { metadata: { limit_type: limitType } } : {});
  }
}

/** The estimated cost of a request, from its insufficient_credits error. */
async function estimateOf(
  deployment: Deployment,
  request: unknown,
  headers: Record<string, string> = {},
): Promise<number> {
  const { apiKey } = await deployment.tenant({ credit: '0' });
  const response = await chat(deployment, request, { apiKey, headers });
  const { metadata } = assertError(response, 'insufficient_credits');
  return metadata.estimated_cost as number;
}

function retryAfterOf(
  response: RawResponse,
  code: 'rpm_exceeded' | 'tpm_exceeded' = 'rpm_exceeded',
): { seconds: number; ms: number } {
  assertError(response, code);
  const seconds = Number(response.headers['retry-after']);
  const ms = Number(response.headers['retry-after-ms']);
  assert.ok(Number.isInteger(ms) && ms >= 1 && ms <= 59_999, `retry-after-ms ${ms}`);
  assert.equal(seconds, Math.ceil(ms / 1000), 'retry-after is rounded up to whole seconds');
  return { seconds, ms };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
