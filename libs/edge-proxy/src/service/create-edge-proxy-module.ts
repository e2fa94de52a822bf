import { createAddressMatcher, createClientAddressReader } from '@gateway/addresses';
import { type Clock } from '@gateway/base';
import { type BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { type GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { type InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { type RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { type RpcClient } from '@gateway/rpc';
import { refusalError } from '@gateway/errors';
import { type GatewayModule } from '@gateway/module';
import { routeNotFound, type TokenCounter } from '@gateway/public-api';
import { type Logger, newId, type Registry } from '@gateway/runtime';
import { createLedgerClient } from './admission/ledger-client';
import { createLimiterClient } from './admission/limiter-client';
import { openTaken } from './admission/taken';
import { createAuthenticator } from './authenticate';
import { createCatalogueWatch } from './catalogue-watch';
import { answerChatCompletion } from './chat/chat-completions';
import { createEdgeMetrics } from './edge-metrics';
import { listModels } from './endpoints/list-models';
import { lookUpGeneration } from './endpoints/look-up-generation';
import { readCredits } from './endpoints/read-credits';
import { readUsage } from './endpoints/read-usage';
import { createFloodGuard } from './floods/flood-guard';
import { createAnswerer } from './http/answer';
import { createApp } from './http/app';
import { createKeepAlive } from './http/event-stream';
import { createPublicServer } from './http/public-server';
import { pathOf } from './http/query';
import { createBodyReader } from './http/read-body';
import { type KeyDirectory } from './ports';
import { createServerOfRequests } from './serve';
import { defaultEdgeProxySettings, type EdgeProxySettings } from './settings';

export interface EdgeProxyPorts {
  readonly keyDirectory: KeyDirectory;
  readonly tokenCounter: TokenCounter;
  readonly rateLimit: RpcClient<typeof RateLimitDefinition>;
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
  readonly generationQuery: RpcClient<typeof GenerationQueryDefinition>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** What is absent has the value of `defaultEdgeProxySettings`. */
  readonly settings?: Partial<EdgeProxySettings>;
}

export interface EdgeProxyModule extends GatewayModule {
  /** Where the public server listens; undefined before the start. */
  port(): number | undefined;
  /** Whether it should be sent requests: it listens, knows the models, and is not stopping. */
  isReady(): boolean;
}

/** The longest that an answer waits for what its request took to be given back. */
const GIVE_BACK_WAIT_MS = 250;
const HEADERS_TIMEOUT_MS = 20_000;
/** Beyond the body's own limit, for the server's coarser check. */
const REQUEST_TIMEOUT_MARGIN_MS = 30_000;
const MAX_DRAIN_MS = 5_000;
/** Of what is still to be given back when the process stops. */
const RELEASE_GRACE_MS = 5_000;

/** The public HTTP API, with a server of its own. Owns no data; see the README. */
export function createEdgeProxyModule(ports: EdgeProxyPorts): EdgeProxyModule {
  const { keyDirectory, tokenCounter, clock, log, inferenceRouter, billingLedger, generationQuery } = ports;
  const settings = { ...defaultEdgeProxySettings, ...ports.settings };
  const metrics = createEdgeMetrics(ports.metrics);
  const now = () => clock.now();
  const newRequestId = () => newId('req').replace('-', '_');
  const onReleaseDropped = metrics.releasesDropped;

  let stopping = false;
  let port: number | undefined;
  let onIdle = () => {};

  const limiter = createLimiterClient({ rateLimit: ports.rateLimit, now, log, onReleaseDropped });
  const { claimLeaseMs } = settings;
  const ledger = createLedgerClient({ billingLedger, claimLeaseMs, now, log, onReleaseDropped });
  const catalogue = createCatalogueWatch({ inferenceRouter, log });
  const keepAlive = createKeepAlive({ idleMs: settings.keepAliveCommentMs, now });
  const answer = createAnswerer({
    limits: {
      stalledReaderMs: settings.stalledReaderMs,
      maxDrainBytes: settings.maxBodyBytes,
      maxDrainMs: MAX_DRAIN_MS,
    },
    now,
    isStopping: () => stopping,
  });
  const clientAddress = createClientAddressReader(settings.trustedProxies);
  const floods = createFloodGuard({
    maxFailedAuthentications: settings.maxFailedAuthenticationsPerMinute,
    maxInvalidRequests: settings.maxInvalidRequestsPerMinute,
    clientAddress,
    clock,
    onRefused: metrics.floodRefused,
  });
  const authenticate = createAuthenticator({
    keyDirectory,
    clientAddress,
    isAddressAllowed: createAddressMatcher(),
    floods,
    clock,
  });
  const chat = {
    authenticate,
    floods,
    readBody: createBodyReader({
      maxBytes: settings.maxBodyBytes,
      maxBytesOfAll: settings.maxBodyBytesOfAll,
      timeoutMs: settings.bodyTimeoutMs,
    }),
    catalogue,
    tokenCounter,
    openTaken: () => openTaken({ limiter, ledger, maxWaitMs: GIVE_BACK_WAIT_MS }),
    newGenerationId: () => newId('gen'),
    clock,
    holdMarginMs: settings.holdMarginMs,
    inferenceRouter,
    answer,
    keepAlive,
    metrics,
    log,
    now,
    generationTimeoutMs: settings.generationTimeoutMs + settings.generationMarginMs,
  };
  const requests = createServerOfRequests({
    handlers: {
      chat_completions: (exchange) => answerChatCompletion(chat, exchange),
      models: (exchange) => listModels({ authenticate, answer, catalogue }, exchange),
      credits: (exchange) => readCredits({ authenticate, answer, billingLedger }, exchange),
      generation: (exchange) => lookUpGeneration({ authenticate, answer, generationQuery }, exchange),
      usage: (exchange) => readUsage({ authenticate, answer, generationQuery, clock }, exchange),
      unknown: (exchange) => answer.error(exchange, refusalError(routeNotFound(pathOf(exchange.request)))),
    },
    answer,
    metrics,
    log,
    now,
    newRequestId,
    onIdle: () => onIdle(),
  });
  const server = createPublicServer({
    host: settings.host,
    port: settings.port,
    handle: createApp(requests),
    newRequestId,
    onError: (error) => log.error({ err: error }, 'the public server failed'),
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    requestTimeoutMs: settings.bodyTimeoutMs + REQUEST_TIMEOUT_MARGIN_MS,
    keepAliveMs: settings.idleConnectionMs,
  });

  async function start(): Promise<void> {
    await keyDirectory.start();
    await catalogue.start(settings.catalogueWaitMs);
    limiter.start();
    ledger.start();
    keepAlive.start();
    ({ port } = await server.start());
    log.info({ host: settings.host, port }, 'the public API is open');
  }

  async function stop(): Promise<void> {
    if (stopping) return;
    stopping = true;
    const closed = server.drain();
    await noneRunning(settings.stopGraceMs);
    // Whoever is left is cut off, which cancels and settles what it runs.
    server.destroy();
    await closed;
    await noneRunning(RELEASE_GRACE_MS);
    await withinMs(Promise.all([limiter.idle(), ledger.idle()]), RELEASE_GRACE_MS);
    keepAlive.stop();
    limiter.stop();
    ledger.stop();
    await catalogue.stop();
    await keyDirectory.stop();
  }

  /** Resolves when no request runs any more, or the time is over. */
  function noneRunning(graceMs: number): Promise<void> {
    const done = new Promise<void>((resolve) => {
      onIdle = () => {
        if (requests.running() === 0) resolve();
      };
      onIdle();
    });
    return withinMs(done, graceMs);
  }

  return {
    name: 'edge-proxy',
    services: [],
    consumers: [],
    start,
    stop,
    port: () => port,
    isReady: () => port !== undefined && catalogue.isReady() && !stopping,
  };
}

function withinMs(work: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.finally(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
