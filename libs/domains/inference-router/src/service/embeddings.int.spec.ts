import { UsageSource } from '@gateway/contracts/common';
import type { GenerateRequest } from '@gateway/contracts/inference-router';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { systemClock } from '@gateway/runtime';
import { nodeTimers } from '../adapters/node/timers';
import { createUndiciTransport } from '../adapters/undici/undici-transport';
import type { Model } from '../core/catalogue/model-catalogue';
import type { TargetOptions } from '../core/dialects/dialect';
import type { DialectName } from '../core/dialects/registry';
import { testTarget } from '../core/provider/test-target';
import {
  deferred,
  freeGeneration,
  generateRequest,
  model,
  provider,
  RouterUnderTest,
  TARGET_OPTIONS,
} from '../testing/router-under-test';

let emulator: ModelEmulator;
let router: RouterUnderTest;

interface Vendor {
  readonly name: string;
  readonly dialect: DialectName;
  readonly path: string;
  readonly providerModel: string;
  readonly options?: Partial<TargetOptions>;
  readonly dimensions: readonly number[];
  /** The most inputs of one call. */
  readonly perCall: number;
  readonly acceptsTokens?: boolean;
  /** Whether it reports usage. */
  readonly reports: boolean;
}

const VERTEX = '/v1/projects/p/locations/eu';

const VENDORS: readonly Vendor[] = [
  {
    ...{ name: 'openai', dialect: 'openai', path: '/openai/v1', providerModel: 'emu-embed' },
    ...{ options: { vendor: 'openai' }, dimensions: [1_536, 256], perCall: 2_048 },
    ...{ acceptsTokens: true, reports: true },
  },
  {
    ...{ name: 'azure, dated', dialect: 'openai', path: '/openai', providerModel: 'emu-embed' },
    ...{ options: { vendor: 'azure', host: 'azure_deployments' }, dimensions: [1_536, 256], perCall: 2_048 },
    ...{ acceptsTokens: true, reports: true },
  },
  {
    ...{ name: 'a server with one length', dialect: 'openai', path: '/v1', providerModel: 'emu-embed-fixed' },
    ...{ dimensions: [384], perCall: 2_048, acceptsTokens: true, reports: true },
  },
  {
    ...{ name: 'gemini', dialect: 'gemini', path: '', providerModel: 'emu-embed' },
    // AI Studio takes 100, but 85 embeddings are as many numbers as one response may have.
    ...{ dimensions: [1_536, 256], perCall: 85, reports: false },
  },
  {
    ...{ name: 'vertex', dialect: 'gemini', path: VERTEX, providerModel: 'emu-embed' },
    ...{ options: { host: 'vertex' }, dimensions: [1_536, 256], perCall: 5, reports: true },
  },
  {
    ...{ name: 'titan', dialect: 'converse', path: '', providerModel: 'amazon.titan-embed-text-emu' },
    ...{ dimensions: [1_024, 256], perCall: 1, reports: true },
  },
  {
    ...{ name: 'cohere', dialect: 'converse', path: '', providerModel: 'eu.cohere.embed-emu' },
    ...{ dimensions: [1_024, 256], perCall: 96, reports: true },
  },
];

function targetOf({ dialect, path, providerModel, options = {} }: Vendor, suffix = '') {
  return {
    provider: provider(dialect, new URL(emulator.url).origin + path, { dialect }),
    ...{ providerModel: `${providerModel}${suffix}`, signer: 's', weight: 1, retryTimeouts: true },
    options: { ...TARGET_OPTIONS, ...options },
  };
}

function modelOf(vendor: Vendor, changes: Partial<Model> = {}): Model {
  return model([], {
    id: vendor.name,
    maxOutputTokens: 0,
    capabilities: [],
    embeddingDimensions: vendor.dimensions,
    targets: [targetOf(vendor)],
    ...changes,
  });
}

beforeAll(async () => {
  emulator = await startModelEmulator();
  const [first] = VENDORS as [Vendor];
  router = await RouterUnderTest.start([
    ...VENDORS.map((vendor) => modelOf(vendor)),
    model([provider('chat', emulator.url)], { id: 'chat' }),
    modelOf(first, { id: 'failing', targets: [targetOf(first, '+fault:503'), targetOf(first)] }),
    modelOf(first, { id: 'wrong-length', embeddingDimensions: [1_000] }),
    modelOf(first, {
      id: 'slow',
      targets: [targetOf(first, '+delay:60000')],
    }),
  ]);
});
afterAll(async () => {
  await router.stop();
  await emulator.close();
});
beforeEach(() => {
  emulator.reset();
  router.events.length = 0;
});

interface EmbeddingList {
  readonly object: string;
  readonly data: readonly { readonly object: string; readonly index: number; readonly embedding: string }[];
  readonly model: string;
  readonly usage: object;
}

function request(modelId: string, body: object, changes: Partial<GenerateRequest> = {}): GenerateRequest {
  const bodyJson = Buffer.from(JSON.stringify(body));
  return generateRequest({ modelId, bodyJson, embeddings: true, maxOutputTokens: 0, ...changes });
}

async function embed(modelId: string, body: object, changes: Partial<GenerateRequest> = {}) {
  const { finished, error } = await router.collect(request(modelId, body, changes));
  if (error) throw error;
  const list = JSON.parse(finished?.responseJson?.toString() ?? '') as EmbeddingList;
  return { finished, list, vectors: list.data.map(({ embedding }) => Buffer.from(embedding, 'base64')) };
}

const testPorts = {
  openTestTransport: () => createUndiciTransport({ openCredential: () => undefined }),
  timers: nodeTimers,
  clock: systemClock,
};

describe.each(VENDORS)('$name', (vendor) => {
  const { name, dimensions, perCall, acceptsTokens = false, reports } = vendor;
  const [length = 0, shorter] = dimensions;
  const sent = dimensions.length > 1 ? { dimensions: length } : {};

  it('returns embeddings as base64 of 32-bit floats, and charges the input', async () => {
    const { finished, list, vectors } = await embed(name, { input: ['Hello, world!', 'Bye'], ...sent });
    expect(list).toMatchObject({ object: 'list', model: name });
    expect(list.data.map(({ object, index }) => [object, index])).toEqual([
      ['embedding', 0],
      ['embedding', 1],
    ]);
    expect(vectors.map((bytes) => bytes.length / 4)).toEqual([length, length]);
    // "Hello, world!" has 4 tokens, "Bye" 1; without a report the estimate counts.
    const tokens = reports ? 5 : 9;
    expect(list.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens, cost: tokens / 1e6 });
    expect(finished).toMatchObject({ usage: { promptTokens: tokens, completionTokens: 0 } });
    expect(finished?.costNanoUsd).toBe(BigInt(tokens * 1_000));
    expect(router.events).toHaveLength(1);
    expect(router.events[0]).toMatchObject({
      finishReason: 'stop',
      streamed: false,
      usageSource: reports ? UsageSource.USAGE_SOURCE_PROVIDER : UsageSource.USAGE_SOURCE_COUNTED,
    });
  });

  it('keeps the order of the inputs over as many calls as the provider needs', async () => {
    const count = Math.min(perCall * 2 + 1, 250);
    const input = Array.from({ length: count }, (_, index) => `text ${index}`);
    const { vectors } = await embed(name, { input, ...sent }, { estimatedInputTokens: count * 5 });
    const calls = emulator.stats().received;
    expect(calls).toBe(Math.ceil(count / perCall));
    for (const index of [0, 1, count - 1]) {
      const alone = await embed(name, { input: [input[index]], ...sent });
      expect(vectors[index]?.equals(alone.vectors[0] as Buffer)).toBe(true);
    }
    expect(router.events[0]?.attempts).toHaveLength(1);
  });

  it('is tested by the operator with one embedding', async () => {
    const tested = modelOf(vendor);
    const [target] = tested.targets;
    if (!target) throw new Error('the model has no target');
    const { signal } = new AbortController();
    const { error } = await testTarget(testPorts, { model: tested, target, signal, showsErrorTexts: true });
    expect(error).toBeUndefined();
    expect(emulator.requests().at(-1)?.status).toBe(200);
  });

  it('sends the requested length', async () => {
    if (shorter === undefined) return;
    const { vectors } = await embed(name, { input: ['Hi'], dimensions: shorter });
    expect((vectors[0]?.length ?? 0) / 4).toBe(shorter);
  });

  it('sends tokens, or refuses them where the provider has others', async () => {
    const tokens = { input: [[1, 2, 3]], ...sent };
    if (acceptsTokens) return expect((await embed(name, tokens)).list.data).toHaveLength(1);
    await expect(embed(name, tokens)).rejects.toMatchObject({
      ...{ code: 'invalid_request', param: 'input[0]', providerCalled: false },
    });
    expect(emulator.stats().received).toBe(0);
  });

  it('charges the estimate where usage is missing, and nothing for a failure', async () => {
    const { finished } = await embed(name, { input: ['[[fault:no-usage]]'], ...sent });
    expect(finished?.usage?.promptTokens).toBe(9);
    await expect(embed(name, { input: ['[[fault:500]]'], ...sent })).rejects.toMatchObject({
      code: 'upstream_error',
    });
    await expect(embed(name, { input: ['[[fault:context-length]]'], ...sent })).rejects.toMatchObject({
      ...{ code: 'context_length_exceeded', param: 'input' },
    });
    expect(router.events.slice(1)).toEqual([
      freeGeneration({ errorCode: 'upstream_error' }),
      freeGeneration({ errorCode: 'context_length_exceeded' }),
    ]);
  });
});

it('fails over to the next target, and charges once', async () => {
  const { list } = await embed('failing', { input: ['Hi'], dimensions: 256 });
  expect(list.data).toHaveLength(1);
  expect(router.events).toHaveLength(1);
  expect(router.events[0]?.attempts.map(({ outcome }) => outcome).at(-1)).toBe('ok');
});

it('returns no embedding of another length than the catalogue promises', async () => {
  await expect(embed('wrong-length', { input: ['Hi'] })).rejects.toMatchObject({
    code: 'upstream_config_error',
  });
});

it('charges the prompt of a request that is cancelled after it was sent', async () => {
  const cancel = new AbortController();
  const ended = deferred();
  const running = router
    .collect(request('slow', { input: ['Hi'], dimensions: 256 }), { signal: cancel.signal })
    .finally(ended.resolve);
  await emulator.until(({ in_flight }) => in_flight === 1);
  cancel.abort();
  await running;
  await ended.promise;
  expect(router.events).toEqual([
    expect.objectContaining({ cancelled: true, usage: expect.objectContaining({ promptTokens: 9 }) }),
  ]);
});

it.each([
  ['a chat model', 'chat', true],
  ['an embedding model', 'openai', false],
])('serves %s in its own kind of requests only', async (_, modelId, embeddings) => {
  const maxOutputTokens = embeddings ? 0 : 10;
  const { error } = await router.collect(
    request(modelId, { input: ['Hi'] }, { embeddings, maxOutputTokens }),
  );
  expect(error).toMatchObject({ code: 'model_not_found' });
});

it('reports to the edge which models make embeddings', async () => {
  const [first] = await take(router);
  const kinds = Object.fromEntries(
    (first?.models ?? []).map(({ id, embeddingDimensions }) => [id, embeddingDimensions]),
  );
  expect(kinds).toMatchObject({ chat: [], openai: [1_536, 256], titan: [1_024, 256] });
});

async function take(under: RouterUnderTest) {
  const stop = new AbortController();
  const call = { signal: stop.signal, metadata: {} };
  for await (const catalogue of under.handlers.watchCatalogue({}, call as never)) {
    stop.abort();
    return [catalogue] as const;
  }
  return [] as const;
}
