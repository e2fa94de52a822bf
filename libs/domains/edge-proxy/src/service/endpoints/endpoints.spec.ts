import { UsageSource } from '@gateway/contracts/common';
import {
  type GetGenerationRequest,
  type GetUsageRequest,
  GetUsageResponse,
  UsageDimension,
} from '@gateway/contracts/generation-query';
import { RpcError } from '@gateway/rpc';
import { grant, KEY, model, startEdge, type TestEdge } from '../../testing/start-edge';

let edge: TestEdge;
beforeEach(async () => {
  edge = await startEdge({
    models: [
      model({ id: 'acme/z' }),
      model({ id: 'acme/a' }),
      model({ id: 'acme/off', disabled: true }),
      model({ id: 'acme/free', prices: undefined }),
    ],
  });
});
afterEach(() => edge.stop());

const idsOf = async (response: Response) =>
  ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);

it('lists the enabled models with prices that the key may use, sorted by id', async () => {
  expect(await idsOf(await edge.get('/v1/models'))).toEqual(['acme/a', 'acme/z']);
  edge.keys.set(KEY, grant({ allowedModels: ['acme/z', 'acme/off'] }));
  expect(await idsOf(await edge.get('/v1/models'))).toEqual(['acme/z']);
});

it('never dispatches a model without prices', async () => {
  const response = await edge.chat({ model: 'acme/free', messages: [{ role: 'user', content: 'Hi' }] });
  expect(response.status).toBe(404);
  expect(edge.router.requests).toEqual([]);
});

it('returns the credits of the organization', async () => {
  expect(await (await edge.get('/v1/credits')).json()).toEqual({
    data: {
      total_credits: 100.5,
      total_usage: 25.75,
      balance: 74.75,
      reserved: 0.35,
      available: 74.4,
      currency: 'USD',
    },
  });
});

it('returns 503 when the ledger is unreachable, and a 500 without details for a bug', async () => {
  edge.faults.at('ledger.balance', () => {
    throw new RpcError('deadline_exceeded', 'too slow');
  });
  expect((await edge.get('/v1/credits')).status).toBe(503);
  edge.faults.at('ledger.balance', () => {
    throw new Error('a bug at 10.1.2.3');
  });
  const broken = await edge.get('/v1/credits');
  expect(broken.status).toBe(500);
  expect(await broken.text()).not.toContain('10.1.2.3');
});

it("looks up a generation within the key's organization", async () => {
  const received: GetGenerationRequest[] = [];
  edge.query.handlers = {
    ...edge.query.handlers,
    getGeneration: async (request) => {
      received.push(request);
      return {
        generation: {
          id: request.generationId,
          modelId: 'acme/a',
          keyId: 'key_1',
          requestId: 'req_1',
          createdUnixMs: BigInt(Date.parse('2026-11-20T07:24:00.123Z')),
          streamed: true,
          cancelled: false,
          finishReason: 'stop',
          usage: {
            promptTokens: 10,
            cachedTokens: 0,
            cacheWriteTokens: 0,
            cacheWrite1hTokens: 0,
            imageTokens: 0,
            completionTokens: 25,
            reasoningTokens: 5,
          },
          costNanoUsd: 1_500_000n,
          chargedNanoUsd: 1_500_000n,
          latencyMs: 310,
          generationTimeMs: 1_200,
          apiType: 'embeddings',
          externalUser: undefined,
          provider: 'acme',
          errorCode: undefined,
          usageSource: UsageSource.USAGE_SOURCE_COUNTED,
        },
      };
    },
  };
  const response = await edge.get('/v1/generation?id=gen-1');
  expect(response.headers.get('x-generation-id')).toBe('gen-1');
  expect(await response.json()).toMatchObject({
    data: {
      id: 'gen-1',
      created_at: '2026-11-20T07:24:00.123Z',
      total_cost: 0.0015,
      tokens_completion: 25,
      native_tokens_reasoning: 5,
      usage_source: 'counted',
      api_type: 'embeddings',
      latency: 310,
    },
  });
  expect(received).toEqual([{ organizationId: 'org_1', generationId: 'gen-1' }]);
});

it.each(['', '?id=', '?id=gen-unknown', '?id=a&id=b', `?id=${'x'.repeat(200)}`, '?id=%00%ff'])(
  'generation%s is a 404 that names the parameter',
  async (query) => {
    const response = await edge.get(`/v1/generation${query}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'generation_not_found', param: 'id' } });
  },
);

it("queries usage for the key's organization with the parameters of the request", async () => {
  const received: GetUsageRequest[] = [];
  const sums = {
    requests: 12n,
    promptTokens: 5_000n,
    completionTokens: 900n,
    reasoningTokens: 100n,
    cachedTokens: 0n,
    cacheWriteTokens: 30n,
    cacheWrite1hTokens: 4n,
    costNanoUsd: 28_500_000n,
  };
  edge.query.handlers = {
    ...edge.query.handlers,
    getUsage: async (request) => {
      received.push(request);
      const names = { date: undefined, modelId: undefined, keyId: undefined };
      return {
        totals: { ...names, ...sums },
        rows: [{ ...names, ...sums, date: '2026-11-20', modelId: 'acme/a' }],
      };
    },
  };
  const response = await edge.get(
    '/v1/usage?start_date=2026-11-01&end_date=2026-11-20&group_by=model,day&foo=1',
  );
  expect(await response.json()).toEqual({
    object: 'list',
    start_date: '2026-11-01',
    end_date: '2026-11-20',
    group_by: ['day', 'model'],
    currency: 'USD',
    totals: {
      requests: 12,
      prompt_tokens: 5000,
      completion_tokens: 900,
      reasoning_tokens: 100,
      cached_tokens: 0,
      cache_write_tokens: 34,
      total_tokens: 5900,
      total_cost: 0.0285,
    },
    data: [expect.objectContaining({ date: '2026-11-20', model: 'acme/a', total_cost: 0.0285 })],
  });
  expect(received).toEqual([
    {
      organizationId: 'org_1',
      startDate: '2026-11-01',
      endDate: '2026-11-20',
      groupBy: [UsageDimension.USAGE_DIMENSION_DAY, UsageDimension.USAGE_DIMENSION_MODEL],
      modelId: undefined,
      runId: undefined,
    },
  ]);
});

it('returns the usage by the values of a tag', async () => {
  const received: GetUsageRequest[] = [];
  edge.query.handlers = {
    ...edge.query.handlers,
    getUsage: async (request) => {
      received.push(request);
      return GetUsageResponse.fromPartial({ rows: [{ value: 'blue', otherValues: false, requests: 3n }] });
    },
  };
  const response = await edge.get('/v1/usage?group_by=day,tag:team');
  expect(await response.json()).toMatchObject({
    group_by: ['day', 'tag:team'],
    data: [{ tag: 'blue', other_values: false, requests: 3 }],
  });
  expect(received.map(({ groupBy, tag }) => [groupBy, tag])).toEqual([
    [[UsageDimension.USAGE_DIMENSION_DAY, UsageDimension.USAGE_DIMENSION_TAG], 'team'],
  ]);
});

it('returns the usage of a run with its budget, and null for an unknown one', async () => {
  const received: GetUsageRequest[] = [];
  edge.query.handlers = {
    ...edge.query.handlers,
    getUsage: async (request) => {
      received.push(request);
      return { totals: undefined, rows: [] };
    },
  };
  const known = await edge.get('/v1/usage?run_id=run-1');
  expect(await known.json()).toMatchObject({
    run_id: 'run-1',
    run: { limit: 2, spent: 0.5, held: 0.25, remaining: 1.25 },
  });
  const unknown = await edge.get('/v1/usage?run_id=run-2');
  expect(await unknown.json()).toMatchObject({ run_id: 'run-2', run: null });
  expect(received.map(({ organizationId, runId }) => [organizationId, runId])).toEqual([
    ['org_1', `${grant().keyId}/run-1`],
    ['org_1', `${grant().keyId}/run-2`],
  ]);
  const unlimited = (await (await edge.get('/v1/usage')).json()) as object;
  expect(unlimited).not.toHaveProperty('run');
  expect(edge.faults.reached.filter((step) => step === 'ledger.run')).toHaveLength(2);
});

it('names the invalid parameter of a usage query', async () => {
  const response = await edge.get('/v1/usage?start_date=yesterday');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'start_date' } });
});
