import { UsageSource } from '@gateway/contracts/common';
import type { UnixMs } from '@gateway/base';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Prices } from '@gateway/base';
import { GenerationFinished } from '@gateway/contracts/events';
import {
  GenerateRequest,
  type Finished,
  type GenerateResponse,
  type InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import type {
  ExtendHoldsRequest,
  Hold,
  HoldResult,
  SettleGenerationsRequest,
} from '@gateway/contracts/billing-ledger';
import type { NewEvent } from '@gateway/events';
import type { CallContext, RpcHandlers } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import { createFileSpool } from '../adapters/file-system/file-spool';
import { createTokenizer, type Tokenizer } from '@gateway/tokenizer';
import { nodeTimers } from '../adapters/node/timers';
import { createEncodeThreads } from '../adapters/worker-threads/encode-threads';
import { createUndiciTransport } from '../adapters/undici/undici-transport';
import { createOpossumBreakers, type BreakerOptions } from '../adapters/opossum/circuit-breakers';
import type { Catalogue, Model, Provider } from '../core/catalogue/model-catalogue';
import type { TargetOptions } from '../core/dialects/dialect';
import type { CatalogueSource, Timers } from '../core/ports';
import { createInferenceRouterModule, type InferenceRouterPorts } from '../service/module';

export function provider(name: string, baseUrl: string, changes: Partial<Provider> = {}): Provider {
  return {
    name,
    dialect: 'openai',
    baseUrl,
    credential: { kind: 'bearer', apiKey: 'sk-provider-secret-1234567890' },
    headers: {},
    timeouts: {
      connectMs: 2_000,
      firstEventMs: 10_000,
      firstByteMs: 10_000,
      idleMs: 10_000,
      totalMs: 20_000,
    },
    maxConcurrent: 16,
    maxAttempts: 2,
    ...changes,
  };
}

export const TARGET_OPTIONS: TargetOptions = {
  maxTokensParameter: 'max_tokens',
  developerAsSystem: false,
  forwardReasoningContent: false,
  host: undefined,
  drops: [],
  reasoningBudgets: undefined,
};

/** All different, so that a charge at the wrong price is noticed. */
export const PRICES: Prices = {
  inputNanoUsdPerMillion: 1_000_000_000n,
  cachedInputNanoUsdPerMillion: 100_000_000n,
  cacheWriteNanoUsdPerMillion: 1_250_000_000n,
  cacheWrite1hNanoUsdPerMillion: 1_900_000_000n,
  outputNanoUsdPerMillion: 2_000_000_000n,
  reasoningNanoUsdPerMillion: 5_000_000_000n,
  imageNanoUsdPerMillion: 700_000_000n,
  tiers: [],
};

export function model(providers: readonly Provider[], changes: Partial<Model> = {}): Model {
  return {
    id: 'acme/m-1',
    name: 'M-1',
    ownedBy: 'acme',
    createdUnixS: 1_764_000_000,
    disabled: false,
    contextLength: 8_192,
    maxOutputTokens: 1_000,
    capabilities: ['tools'],
    reasoningEfforts: [],
    defaultReasoningEffort: undefined,
    prices: PRICES,
    tokenCounting: {
      encoding: 'o200k_base',
      factor: 1,
      imageFormula: 'constant',
      imageTokens: 100,
      pageTokens: 1_500,
    },
    extraParameters: [],
    routing: 'order',
    targets: providers.map((of) => ({
      provider: of,
      providerModel: 'upstream-model',
      signer: `signer-${of.name}`,
      weight: 1,
      retryTimeouts: true,
      options: TARGET_OPTIONS,
    })),
    ...changes,
  };
}

export function catalogueOf(models: readonly Model[], version = 1): Catalogue {
  return {
    version,
    models: new Map(models.map((one) => [one.id, one])),
    providers: new Map(models.flatMap((one) => one.targets.map(({ provider: of }) => [of.name, of]))),
  };
}

export class FixedCatalogue implements CatalogueSource {
  private readonly listeners = new Set<() => void>();
  constructor(private catalogue: Catalogue) {}
  start = () => Promise.resolve();
  stop = () => Promise.resolve();
  current = () => this.catalogue;
  status = () => ({ file: 'fixed', text: '', sha256: '', loadedAt: 0 as UnixMs, rejected: undefined });
  onChange = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  change(catalogue: Catalogue): void {
    this.catalogue = catalogue;
    for (const listener of [...this.listeners]) listener();
  }
}

export interface Collected {
  readonly sse: string;
  readonly frames: readonly string[];
  readonly chunks: readonly Record<string, never>[];
  readonly finished: Finished | undefined;
  readonly error: unknown;
}

export interface RouterOptions extends Partial<InferenceRouterPorts> {
  readonly breaker?: Partial<BreakerOptions>;
  readonly timers?: Timers;
}

/** The module with real adapters, and with an event log and a ledger that can fail. */
export class RouterUnderTest {
  readonly events: GenerationFinished[] = [];
  readonly headers: NewEvent['headers'][] = [];
  readonly settled: GenerationFinished[] = [];
  eventLogDown = false;
  ledgerDown = false;
  /** Every extension of a hold, in order. */
  readonly extensions: Hold[] = [];
  /** Decides an extension. */
  extend: (hold: Hold) => Promise<HoldResult['outcome']> = () =>
    Promise.resolve({ $case: 'held', value: {} });
  /** Called before an event is appended. */
  beforeAppend: () => Promise<void> = () => Promise.resolve();
  private constructor(
    readonly module: GatewayModule,
    readonly metrics: ReturnType<typeof createMetrics>,
    readonly spoolDirectory: string,
    private readonly tokenizer: Tokenizer,
  ) {}

  static async start(models: readonly Model[], options: RouterOptions = {}): Promise<RouterUnderTest> {
    const spoolDirectory = await mkdtemp(join(tmpdir(), 'router-spool-'));
    const metrics = createMetrics({ processMetrics: false });
    const tokenizer = createTokenizer();
    const late: { router?: RouterUnderTest } = {};
    const under = () => late.router as RouterUnderTest;
    const module = createInferenceRouterModule({
      catalogue: new FixedCatalogue(catalogueOf(models)),
      transport: createUndiciTransport({ openCredential: () => undefined }),
      openTestTransport: () => createUndiciTransport({ openCredential: () => undefined }),
      encodeThreads: createEncodeThreads(),
      breakers: createOpossumBreakers({
        clock: systemClock,
        options: options.breaker ?? { volumeThreshold: 1_000 },
      }),
      tokenCounter: tokenizer.openCounter(),
      spool: createFileSpool({ directory: spoolDirectory }),
      events: { append: (_topic, events) => under().append(events) },
      ledger: {
        settleGenerations: (request: SettleGenerationsRequest) => under().settle(request),
        extendHolds: (request: ExtendHoldsRequest) => under().extendHolds(request),
      } as never,
      clock: systemClock,
      timers: nodeTimers,
      random: () => 0,
      log: createSilentLogger(),
      metrics,
      ...options,
    });
    const router = new RouterUnderTest(module, metrics, spoolDirectory, tokenizer);
    late.router = router;
    await module.start();
    return router;
  }

  async stop(): Promise<void> {
    await this.module.stop();
    await this.tokenizer.close();
    await rm(this.spoolDirectory, { recursive: true, force: true });
  }

  get handlers(): RpcHandlers<typeof InferenceRouterDefinition> {
    return this.module.services[0]?.handlers as unknown as RpcHandlers<typeof InferenceRouterDefinition>;
  }

  generate(request: GenerateRequest, context: Partial<CallContext> = {}): AsyncIterator<GenerateResponse> {
    const call = { signal: new AbortController().signal, metadata: {}, ...context };
    return this.handlers.generate(request, call)[Symbol.asyncIterator]();
  }

  /** Runs a generation to its end and collects its messages by kind. */
  async collect(request: GenerateRequest, context: Partial<CallContext> = {}): Promise<Collected> {
    const frames: string[] = [];
    let finished: Finished | undefined;
    let error: unknown;
    const messages = this.generate(request, context);
    try {
      for (let next = await messages.next(); !next.done; next = await messages.next()) {
        const { event } = next.value as GenerateResponse;
        if (event?.$case === 'frames') frames.push(event.value.sse.toString('utf8'));
        if (event?.$case === 'finished') finished = event.value;
      }
    } catch (thrown) {
      error = thrown;
    }
    const sse = frames.join('');
    return { sse, frames, chunks: chunksOf(sse), finished, error };
  }

  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const metric = await this.metrics.getSingleMetric(name)?.get();
    const values = metric?.values.filter(({ labels: has }) =>
      Object.entries(labels).every(([key, value]) => (has as Record<string, unknown>)[key] === value),
    );
    return (values ?? []).reduce((sum, { value }) => sum + value, 0);
  }

  private async append(events: readonly NewEvent[]): Promise<void> {
    await this.beforeAppend();
    if (this.eventLogDown) throw new Error('the event log is down');
    for (const event of events) {
      this.events.push(GenerationFinished.decode(event.payload));
      this.headers.push(event.headers);
    }
  }

  private async extendHolds({ holds }: ExtendHoldsRequest): Promise<{ results: HoldResult[] }> {
    this.extensions.push(...holds);
    const results = holds.map(async (hold) => ({ outcome: await this.extend(hold) }));
    return { results: await Promise.all(results) };
  }

  private settle({ generations }: SettleGenerationsRequest): Promise<object> {
    if (this.ledgerDown) return Promise.reject(new Error('the ledger is down'));
    this.settled.push(...generations);
    return Promise.resolve({});
  }
}

export function chunksOf(sse: string): Record<string, never>[] {
  return sse
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      if (!event.startsWith('data: ')) throw new Error(`not a complete event: ${event}`);
      return JSON.parse(event.slice('data: '.length)) as Record<string, never>;
    });
}

let ids = 0;

export function generateRequest(changes: Partial<GenerateRequest> = {}): GenerateRequest {
  ids += 1;
  return GenerateRequest.fromPartial({
    generationId: `gen-${ids}`,
    organizationId: 'org-1',
    keyId: 'key-1',
    requestId: 'req-1',
    modelId: 'acme/m-1',
    stream: false,
    includeUsage: false,
    bodyJson: Buffer.from('{"messages":[{"role":"user","content":"Hi"}]}'),
    maxOutputTokens: 100,
    n: 1,
    createdUnixMs: 1_764_000_000_123n,
    estimatedInputTokens: 9,
    inputParts: { images: 0, estimatedImageTokens: 0, hasDefinitions: false },
    ...changes,
  });
}

/** A promise that the test resolves. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

/** Stops the router at the end, also after a failure. */
export async function withRouter(
  models: readonly Model[],
  use: (router: RouterUnderTest) => Promise<void>,
  options: RouterOptions = {},
): Promise<void> {
  const router = await RouterUnderTest.start(models, options);
  try {
    await use(router);
  } finally {
    await router.stop();
  }
}

/** The record of a generation that ended before its first event. */
export const freeGeneration = (fields: object) =>
  expect.objectContaining({
    usage: expect.objectContaining({ promptTokens: 0, completionTokens: 0 }),
    usageSource: UsageSource.USAGE_SOURCE_UNSPECIFIED,
    generationTimeMs: 0,
    ...fields,
  });
