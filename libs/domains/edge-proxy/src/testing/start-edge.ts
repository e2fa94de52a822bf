import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { Clock, JobCaller, UnixMs } from '@gateway/base';
import { type KeyGrant, Scope } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import {
  type GenerationQueryDefinition as GenerationQueryType,
  GenerationQueryDefinition,
} from '@gateway/contracts/generation-query';
import { InferenceRouterDefinition, type Model } from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { type RecordRefusalsRequest, UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { bindService, createClient, createInProcessTransport, type RpcHandlers } from '@gateway/rpc';
import { createLogger, createMetrics, type Registry } from '@gateway/runtime';
import { createRpcServices } from '../adapters/rpc';
import { createEdgeProxyModule, type EdgeProxyModule } from '../service/module';
import type { EdgeProxySettings } from '../service/settings';
import { stubBodyThreads } from './stub-body-threads';
import { stubPageThreads } from './stub-page-threads';
import { createFaultPlan, unlessAborted, type FaultPlan } from './fault-plan';
import { createStubLedger, type StubLedger } from './stub-ledger';
import { createStubLimiter, type StubLimiter } from './stub-limiter';
import { createStubRouter, type StubRouter } from './stub-router';

export const KEY = 'sk-gw-test-key';

export interface TestEdge {
  readonly module: EdgeProxyModule;
  readonly url: string;
  readonly port: number;
  readonly limiter: StubLimiter;
  readonly ledger: StubLedger;
  readonly router: StubRouter;
  readonly faults: FaultPlan;
  readonly metrics: Registry;
  /** Every log line. */
  readonly logLines: readonly string[];
  /** Every received report of refused requests, also those that were refused. */
  readonly reports: readonly RecordRefusalsRequest[];
  /** Keys by value; changes apply to the next request. */
  readonly keys: Map<string, KeyGrant>;
  /** The caller of each count of tokens or pages. */
  readonly countedFor: readonly (JobCaller | undefined)[];
  readonly query: { handlers: RpcHandlers<GenerationQueryType> };
  /** Makes the key directory fail once. */
  failNextLookup(error: Error): void;
  /** Makes the next call to the router fail in the transport. */
  failNextGenerate(error: Error): void;
  /** Sends a chat completion with fetch. */
  chat(body?: object, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** Sends a request in another format. */
  post(path: string, body: object, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  stop(): Promise<void>;
}

export function grant(changes: Partial<KeyGrant> = {}): KeyGrant {
  return {
    keyId: 'key_1',
    organizationId: 'org_1',
    revoked: false,
    expiresOn: undefined,
    scopes: [Scope.SCOPE_CHAT, Scope.SCOPE_USAGE_READ],
    allowedModels: [],
    ipAllowlist: [],
    keyLimits: {
      requestsPerMinute: undefined,
      tokensPerMinute: undefined,
      concurrency: undefined,
    },
    organizationLimits: {
      requestsPerMinute: 100,
      tokensPerMinute: 50_000,
      concurrency: 10,
      maxOutputTokens: 4_096,
      multipleCompletions: false,
    },
    organizationSuspended: false,
    elasticHolds: false,
    usageTags: [],
    budgets: [],
    jsonStreaming: false,
    ...changes,
  };
}

export function model(changes: Partial<Model> = {}): Model {
  return {
    id: 'acme/m-1',
    name: 'M-1',
    ownedBy: 'acme',
    createdUnixS: 1_764_000_000n,
    disabled: false,
    contextLength: 8_192,
    maxOutputTokens: 2_048,
    capabilities: ['tools', 'json_mode', 'structured_outputs'],
    reasoningEfforts: [],
    defaultReasoningEffort: undefined,
    prices: {
      inputNanoUsdPerMillion: 3_000_000_000n,
      cachedInputNanoUsdPerMillion: 300_000_000n,
      cacheWriteNanoUsdPerMillion: 3_750_000_000n,
      cacheWrite1hNanoUsdPerMillion: 6_000_000_000n,
      outputNanoUsdPerMillion: 15_000_000_000n,
      reasoningNanoUsdPerMillion: 20_000_000_000n,
      imageNanoUsdPerMillion: 5_000_000_000n,
      tiers: [],
    },
    tokenCounting: {
      encoding: 'o200k_base',
      factor: 1,
      imageFormula: 'constant',
      imageTokens: 1_000,
      pageTokens: 1_500,
    },
    extraParameters: [],
    embeddingDimensions: [],
    forwardReasoningContent: false,
    targetPlaces: [{ provider: 'acme', region: 'eu' }],
    writesCacheImplicitly: true,
    ...changes,
  };
}

export const BODY = { model: 'acme/m-1', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 };

export interface StartEdgeOptions {
  readonly settings?: Partial<EdgeProxySettings>;
  readonly models?: readonly Model[];
  readonly clock?: Clock;
  /** The router sends no catalogue. */
  readonly noCatalogue?: boolean;
  /** Starts the next turn of the admission queue; the event loop by default. */
  readonly inNextTurn?: (callback: () => void) => void;
}

/** An edge over real HTTP, with stubs behind the in-process transport. */
export async function startEdge(options: StartEdgeOptions = {}): Promise<TestEdge> {
  const faults = createFaultPlan();
  const limiter = createStubLimiter(faults);
  const ledger = createStubLedger(faults);
  const models = options.models ?? [
    model(),
    model({ id: 'acme/m-2' }),
    model({ id: 'acme/off', disabled: true }),
  ];
  const router = createStubRouter(faults, ledger, options.noCatalogue ? undefined : models);
  const query = { handlers: stubQuery() };
  const transport = createInProcessTransport([
    bindService(RateLimitDefinition, limiter.handlers),
    bindService(BillingLedgerDefinition, ledger.handlers),
    bindService(InferenceRouterDefinition, router.handlers),
    bindService(GenerationQueryDefinition, {
      getGeneration: (request, context) => query.handlers.getGeneration(request, context),
      getUsage: (request, context) => query.handlers.getUsage(request, context),
    }),
    bindService(UsageAggregatorDefinition, {
      recordRefusals: async (report) => {
        reports.push(report);
        await faults.reach('usage.report');
        return {};
      },
    }),
  ]);
  const reports: RecordRefusalsRequest[] = [];
  const keys = new Map([[KEY, grant()]]);
  let lookupError: Error | undefined;
  let generateError: Error | undefined;
  const inferenceRouter = createClient(InferenceRouterDefinition, transport);
  const logLines: string[] = [];
  const metrics = createMetrics({ processMetrics: false });
  const clock = options.clock ?? { now: () => Date.now() as UnixMs };
  const log = createLogger({
    name: 'test',
    level: 'info',
    pretty: false,
    destination: { write: (line: string) => void logLines.push(line) },
  });

  const countedFor: (JobCaller | undefined)[] = [];
  const module = createEdgeProxyModule({
    keyDirectory: {
      lookup: async (keySha256) => {
        await faults.reach('keys.lookup');
        const fault = lookupError;
        lookupError = undefined;
        if (fault) throw fault;
        return [...keys].find(([key]) => createHash('sha256').update(key).digest().equals(keySha256))?.[1];
      },
      start: () => {},
      stop: () => {},
    },
    tokenCounter: {
      count: async (text, _encoding, caller) => {
        countedFor.push(caller);
        await unlessAborted(faults.reach('tokens.count'), caller?.signal);
        return Math.ceil(text.length / 4);
      },
      countSize: ({ length }) => Math.ceil(length / 4),
    },
    bodyThreads: stubBodyThreads(faults),
    pageThreads: stubPageThreads(faults, countedFor),
    ...createRpcServices({
      rateLimit: createClient(RateLimitDefinition, transport),
      billingLedger: createClient(BillingLedgerDefinition, transport),
      inferenceRouter: {
        ...inferenceRouter,
        generate: (request, call) => {
          const fault = generateError;
          generateError = undefined;
          return fault ? failing(fault) : inferenceRouter.generate(request, call);
        },
      },
      everyInferenceRouter: () => [inferenceRouter],
      generationQuery: createClient(GenerationQueryDefinition, transport),
      usageAggregator: createClient(UsageAggregatorDefinition, transport),
      clock,
      log,
      metrics,
    }),
    clock,
    log,
    metrics,
    ...(options.inNextTurn && { inNextTurn: options.inNextTurn }),
    settings: { host: '127.0.0.1', port: 0, stopGraceMs: 2_000, ...options.settings },
  });
  await module.start();
  const port = module.port() ?? 0;
  const url = `http://127.0.0.1:${port}`;
  const post: TestEdge['post'] = (path, body, headers = {}, signal) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });

  return {
    module,
    url,
    port,
    limiter,
    ledger,
    router,
    faults,
    metrics,
    logLines,
    reports,
    keys,
    countedFor,
    query,
    failNextLookup: (error) => (lookupError = error),
    failNextGenerate: (error) => (generateError = error),
    chat: (body = BODY, headers = {}, signal) => post('/v1/chat/completions', body, headers, signal),
    post,
    get: (path, headers = { authorization: `Bearer ${KEY}` }) => fetch(`${url}${path}`, { headers }),
    stop: () => module.stop(),
  };
}

async function* failing(error: Error): AsyncGenerator<never> {
  throw error;
}

function stubQuery(): RpcHandlers<GenerationQueryType> {
  return {
    getGeneration: async () => ({ generation: undefined }),
    getUsage: async () => ({ totals: undefined, rows: [] }),
  };
}

/** A condition that still does not hold by then never will. */
const MAX_WAIT_MS = 15_000;

/** Waits until the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + MAX_WAIT_MS;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`timed out waiting for ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A path exactly as written, which fetch would tidy up. */
export function rawRequest(
  port: number,
  options: { method?: string; path: string; headers?: Record<string, string> | undefined },
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}
