import { nanoUsd, NO_TARGET_RULES, type TargetRules, type UnixMs, type UtcDay } from '@gateway/base';
import { ableModel, disabledModel, extraModel, plainModel } from '../testing/chat-fixtures';
import type { ModelView } from '../chat-completion/types';
import { creditsView } from './credits';
import { generationView } from './generation';
import { modelListView, usdPerToken, type ListedModel } from './model-list';
import { usageView } from './usage';

const EVERY_MODEL = { allowedModels: [] };

const listed = (model: ModelView, more: Partial<ListedModel> = {}): ListedModel => ({
  ...model,
  name: 'M',
  ownedBy: 'acme',
  createdUnixS: 1_764_000_000,
  ...more,
});

describe('the model list', () => {
  const models = [plainModel, extraModel, disabledModel, ableModel].map((model) => listed(model));
  const ids = (allowedModels: string[], targetRules?: TargetRules): unknown =>
    (modelListView(models, { allowedModels, targetRules }) as { data: { id: string }[] }).data.map(
      ({ id }) => id,
    );

  it('lists enabled models that the key may use, sorted by id', () => {
    expect(ids([])).toEqual(['acme/able', 'acme/extra', 'acme/plain']);
    expect(ids(['acme/plain', 'acme/disabled', 'acme/none'])).toEqual(['acme/plain']);
  });

  it('lists no model without a target that the organization allows', () => {
    expect(ids([], { ...NO_TARGET_RULES, deniedRegions: ['eu'] })).toEqual([]);
    expect(ids([], { ...NO_TARGET_RULES, allowedRegions: ['eu'] })).toHaveLength(3);
  });

  it('has the documented shape', () => {
    expect(modelListView([listed(ableModel, { defaultReasoningEffort: 'medium' })], EVERY_MODEL)).toEqual({
      object: 'list',
      data: [
        {
          id: 'acme/able',
          object: 'model',
          created: 1_764_000_000,
          owned_by: 'acme',
          name: 'M',
          context_length: 8_192,
          max_output_tokens: 4_096,
          capabilities: ['tools', 'vision', 'files', 'json_mode', 'structured_outputs', 'reasoning'],
          reasoning: { supported_efforts: ['low', 'medium', 'high'], default_effort: 'medium' },
          architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
          supported_parameters: expect.arrayContaining([
            'max_tokens',
            'tools',
            'response_format',
            'logprobs',
          ]),
          pricing: {
            prompt: '0.000003',
            completion: '0.000015',
            image_token: '0.000005',
            input_cache_read: '0.0000003',
            input_cache_write: '0.00000375',
            input_cache_write_1h: '0.000006',
            internal_reasoning: '0.00002',
          },
        },
      ],
    });
  });

  it('lists the price tiers of a model', () => {
    const { tiers: _none, ...tokenPrices } = ableModel.prices;
    const tier = { ...tokenPrices, abovePromptTokens: 200_000, inputNanoUsdPerMillion: 6_000_000_000n };
    const tiered = { ...ableModel, prices: { ...ableModel.prices, tiers: [tier] } };
    expect(modelListView([listed(tiered)], EVERY_MODEL)).toMatchObject({
      data: [
        {
          pricing: {
            prompt: '0.000003',
            tiers: [{ above_prompt_tokens: 200_000, prompt: '0.000006', input_cache_write: '0.00000375' }],
          },
        },
      ],
    });
  });

  it('lists the supported parameters of a model', () => {
    const parametersOf = (model: ModelView): string[] =>
      (modelListView([listed(model)], EVERY_MODEL) as { data: { supported_parameters: string[] }[] }).data[0]
        ?.supported_parameters ?? [];
    expect(parametersOf(extraModel)).toContain('top_k');
    for (const name of [
      'tools',
      'tool_choice',
      'response_format',
      'reasoning_effort',
      'logprobs',
      'user',
      'top_k',
    ]) {
      expect(parametersOf(plainModel)).not.toContain(name);
    }
    expect(parametersOf(plainModel)).toContain('temperature');
  });

  it('names the endpoints that a model serves, where there are several', () => {
    const paths = ['/v1/chat/completions', '/v1/messages'];
    expect(modelListView([listed(plainModel)], EVERY_MODEL, paths)).toMatchObject({
      data: [{ endpoints: paths }],
    });
    expect(JSON.stringify(modelListView([listed(plainModel)], EVERY_MODEL, paths.slice(1)))).not.toContain(
      'endpoints',
    );
  });

  it('shows the absence of reasoning and vision', () => {
    expect(modelListView([listed(plainModel)], EVERY_MODEL)).toMatchObject({
      data: [{ capabilities: [], architecture: { input_modalities: ['text'] } }],
    });
    expect(JSON.stringify(modelListView([listed(plainModel)], EVERY_MODEL))).not.toContain(
      'supported_efforts',
    );
  });

  it.each([
    [3_000_000_000n, '0.000003'],
    [1n, '0.000000000000001'],
    [0n, '0'],
    [2_000_000_000_000_000n, '2'],
    [2_500_000_000_000_001n, '2.500000000000001'],
  ])('%d nano-dollars per million tokens are %s dollars per token', (price, expected) => {
    expect(usdPerToken(price)).toBe(expected);
  });
});

it('credits: added, used, balance, reserved and available', () => {
  expect(
    creditsView({
      totalCreditsNanoUsd: nanoUsd(100_500_000_000n),
      totalUsageNanoUsd: nanoUsd(25_750_000_001n),
      heldNanoUsd: nanoUsd(350_000_000n),
    }),
  ).toEqual({
    data: {
      total_credits: 100.5,
      total_usage: 25.750000001,
      balance: 74.749999999,
      reserved: 0.35,
      available: 74.399999999,
      currency: 'USD',
    },
  });
});

it('a generation has the documented shape', () => {
  expect(
    generationView({
      id: 'gen-1',
      modelId: 'acme/m-1',
      requestId: 'req_1',
      createdAt: Date.parse('2026-11-20T07:24:00.123Z') as UnixMs,
      streamed: true,
      cancelled: false,
      finishReason: 'stop',
      usage: {
        promptTokens: 10,
        cachedTokens: 1,
        cacheWriteTokens: 3,
        cacheWrite1hTokens: 4,
        imageTokens: 2,
        completionTokens: 25,
        reasoningTokens: 5,
      },
      usageSource: 'provider',
      apiType: 'messages',
      chargedNanoUsd: nanoUsd(1_500_000n),
      latencyMs: 310,
      generationTimeMs: 1_200,
    }),
  ).toEqual({
    data: {
      id: 'gen-1',
      model: 'acme/m-1',
      created_at: '2026-11-20T07:24:00.123Z',
      api_type: 'messages',
      streamed: true,
      cancelled: false,
      finish_reason: 'stop',
      error_code: null,
      tokens_prompt: 10,
      tokens_completion: 25,
      native_tokens_prompt: 10,
      native_tokens_completion: 25,
      native_tokens_reasoning: 5,
      native_tokens_cached: 1,
      native_tokens_cache_write: 7,
      native_tokens_cache_write_1h: 4,
      usage_source: 'provider',
      total_cost: 0.0015,
      usage: 0.0015,
      latency: 310,
      generation_time: 1_200,
      external_user: null,
      request_id: 'req_1',
    },
  });
});

it('usage: totals and groups with their dimensions', () => {
  const sums = {
    requests: 12n,
    promptTokens: 5_000n,
    completionTokens: 900n,
    reasoningTokens: 100n,
    cachedTokens: 0n,
    cacheWriteTokens: 30n,
    cacheWrite1hTokens: 40n,
    costNanoUsd: nanoUsd(28_500_000n),
  };
  const numbers = {
    requests: 12,
    prompt_tokens: 5_000,
    completion_tokens: 900,
    reasoning_tokens: 100,
    cached_tokens: 0,
    cache_write_tokens: 70,
    total_tokens: 5_900,
    total_cost: 0.0285,
  };
  const query = {
    startDate: '2026-10-22' as UtcDay,
    endDate: '2026-11-20' as UtcDay,
    groupBy: ['day', 'model'] as const,
  };
  expect(usageView(query, sums, [{ ...sums, date: '2026-11-20', modelId: 'acme/m-1' }])).toEqual({
    object: 'list',
    start_date: '2026-10-22',
    end_date: '2026-11-20',
    group_by: ['day', 'model'],
    currency: 'USD',
    totals: numbers,
    data: [{ date: '2026-11-20', model: 'acme/m-1', ...numbers }],
  });
  expect(
    usageView({ ...query, modelId: 'acme/m-1', apiType: 'messages' }, sums, [
      { ...sums, keyId: 'key_1' },
      { ...sums, projectId: 'proj-1', apiType: 'messages' },
      { ...sums, projectId: '' },
    ]),
  ).toMatchObject({
    model: 'acme/m-1',
    api_type: 'messages',
    data: [{ api_key: 'key_1' }, { project: 'proj-1', api_type: 'messages' }, { project: null }],
  });
  const groups = [{ ...sums, value: 'a' }, sums, { ...sums, otherValues: true }];
  expect(usageView({ ...query, groupBy: ['day', 'user'] }, sums, groups)).toMatchObject({
    data: [
      { user: 'a', other_values: false },
      { user: null, other_values: false },
      { user: null, other_values: true },
    ],
  });
  expect(usageView({ ...query, groupBy: ['tag:team'] }, sums, groups)).toMatchObject({
    group_by: ['tag:team'],
    data: [{ tag: 'a', other_values: false }, { tag: null }, { tag: null, other_values: true }],
  });
});

it('usage of a run: its budget, with never less than nothing left', () => {
  const query = {
    startDate: '2026-10-22' as UtcDay,
    endDate: '2026-11-20' as UtcDay,
    groupBy: ['day'] as const,
    runId: 'agent/42',
  };
  const none = {
    requests: 0n,
    promptTokens: 0n,
    completionTokens: 0n,
    reasoningTokens: 0n,
    cachedTokens: 0n,
    cacheWriteTokens: 0n,
    cacheWrite1hTokens: 0n,
    costNanoUsd: nanoUsd(0n),
  };
  const run = (spent: bigint) => ({
    budgetNanoUsd: nanoUsd(2_000_000_000n),
    spentNanoUsd: nanoUsd(spent),
    heldNanoUsd: nanoUsd(250_000_000n),
  });
  expect(usageView(query, none, [], run(500_000_000n))).toMatchObject({
    run_id: 'agent/42',
    run: { limit: 2, spent: 0.5, held: 0.25, remaining: 1.25 },
  });
  expect(usageView(query, none, [], run(1_900_000_000n))).toMatchObject({ run: { remaining: 0 } });
  expect(usageView(query, none, [])).toMatchObject({ run_id: 'agent/42', run: null });
});
