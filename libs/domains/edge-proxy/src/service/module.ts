import { createAddressMatcher, createClientAddressReader } from '@gateway/addresses';
import { type Clock } from '@gateway/base';
import { type KeyGrant } from '@gateway/contracts/auth';
import { type BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { type GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { type InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { type RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { createHttpServer } from '@gateway/http-server';
import { type RpcClient } from '@gateway/rpc';
import { type GatewayModule } from '@gateway/module';
import { type TokenCounter } from '@gateway/public-api';
import { type Logger, newId, type Registry } from '@gateway/runtime';
import { createLedgerClient } from './admission/ledger-client';
import { createLimiterClient } from './admission/limiter-client';
import { openReservation } from './admission/reservation';
import { createAuthenticator } from './access/authenticate';
import { watchModelCatalogue } from './catalogue/model-catalogue';
import { type CheckBodyPorts } from './chat/check-body';
import { createEdgeMetrics } from './metrics';
import { createHandlers } from './handlers';
import { createFloodGuard } from './floods/flood-guard';
import { createAnswerer } from './http/answer/answer';
import { createCors } from './http/answer/cors';
import { createApp } from './http/server/app';
import { createKeepAlive } from './http/answer/event-stream';
import { answerUnreadable } from './http/server/unreadable-requests';
import { createBodyReader } from './http/request/read-body';
import { AdmissionQueue, type KeyDirectory } from '../core';
import { createServerOfRequests } from './http/server/serve-requests';
import { defaultEdgeProxySettings, type EdgeProxySettings, limits } from './settings';

export interface EdgeProxyPorts {
  readonly keyDirectory: KeyDirectory<KeyGrant>;
  readonly tokenCounter: TokenCounter;
  readonly bodyThreads: CheckBodyPorts['bodyThreads'];
  readonly rateLimit: RpcClient<typeof RateLimitDefinition>;
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
  readonly generationQuery: RpcClient<typeof GenerationQueryDefinition>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Calls back in the next turn of the event loop; setImmediate when absent. */
  readonly inNextTurn?: (callback: () => void) => void;
  /** What is absent has the value of `defaultEdgeProxySettings`. */
  readonly settings?: Partial<EdgeProxySettings>;
}

export interface EdgeProxyModule extends GatewayModule {
  /** Where the public server listens; undefined before the start. */
  port(): number | undefined;
  /** Whether it should be sent requests: it listens, knows the models, and is not stopping. */
  isReady(): boolean;
}

/** The public HTTP API, with a server of its own. Owns no data; see the README. */
export function createEdgeProxyModule(ports: EdgeProxyPorts): EdgeProxyModule {
  const { keyDirectory, tokenCounter, clock, log, inferenceRouter, billingLedger, generationQuery } = ports;
  const settings = { ...defaultEdgeProxySettings, ...ports.settings };
  const now = () => clock.now();
  const admissionQueue = new AdmissionQueue(
    { now, inNextTurn: ports.inNextTurn ?? setImmediate },
    limits.overload,
  );
  const metrics = createEdgeMetrics(ports.metrics, { waiting: () => admissionQueue.waiting });
  const newRequestId = () => newId('req').replace('-', '_');
  const onReleaseDropped = metrics.releasesDropped;

  let stopping = false;
  let port: number | undefined;
  let onIdle = () => {};

  const limiter = createLimiterClient({ rateLimit: ports.rateLimit, now, log, onReleaseDropped });
  const ledger = createLedgerClient({ billingLedger, now, log, onReleaseDropped }, settings);
  const catalogue = watchModelCatalogue({ inferenceRouter, log });
  const keepAlive = createKeepAlive(now, { idleMs: settings.keepAliveCommentMs });
  const cors = createCors(settings.corsOrigins, settings.isDashboardOrigin);
  const answer = createAnswerer(
    { cors, now, isStopping: () => stopping },
    {
      stalledReaderMs: settings.stalledReaderMs,
      maxDrainBytes: Math.max(settings.maxBodyBytes, limits.http.minDrainBytes),
      maxDrainMs: limits.http.maxDrainMs,
    },
  );
  const clientAddress = createClientAddressReader(settings.trustedProxies);
  const floods = createFloodGuard(
    { clientAddress, clock, onRefused: metrics.floodRefused },
    {
      maxFailedAuthentications: settings.maxFailedAuthenticationsPerMinute,
      maxInvalidRequests: settings.maxInvalidRequestsPerMinute,
    },
  );
  const authenticate = createAuthenticator({
    keyDirectory,
    clientAddress,
    isAddressAllowed: createAddressMatcher(),
    floods,
    clock,
  });
  const handlers = createHandlers({
    cors,
    authenticate,
    floods,
    admissionQueue,
    readBody: createBodyReader({
      maxBytes: settings.maxBodyBytes,
      maxBytesOfAll: settings.maxBodyBytesOfAll,
      timeoutMs: settings.bodyTimeoutMs,
      pieceBytes: limits.bodies.pieceBytes,
    }),
    catalogue,
    tokenCounter,
    bodyThreads: ports.bodyThreads,
    openReservation: () => openReservation({ limiter, ledger }, { maxWaitMs: limits.releases.answerWaitMs }),
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
    billingLedger,
    generationQuery,
  });
  const requests = createServerOfRequests({
    handlers,
    answer,
    metrics,
    log,
    now,
    newRequestId,
    onIdle: () => onIdle(),
  });
  const server = createHttpServer(
    {
      handle: createApp(requests),
      answerUnreadable: (request) => answerUnreadable(request, newRequestId()),
      onError: (error) => log.error({ err: error }, 'the public server failed'),
    },
    {
      host: settings.host,
      port: settings.port,
      maxHeaderBytes: limits.http.maxHeaderBytes,
      headersTimeoutMs: limits.http.headersTimeoutMs,
      requestTimeoutMs: settings.bodyTimeoutMs + limits.http.requestTimeoutMarginMs,
      keepAliveMs: settings.idleConnectionMs,
    },
  );

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
    // What still runs is cancelled, which ends and settles what it runs.
    server.destroy();
    await closed;
    await noneRunning(limits.releases.stopGraceMs);
    await withinMs(Promise.all([limiter.idle(), ledger.idle()]), limits.releases.stopGraceMs);
    keepAlive.stop();
    limiter.stop();
    ledger.stop();
    await ports.bodyThreads.stop();
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
