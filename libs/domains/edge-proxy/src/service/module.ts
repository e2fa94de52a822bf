import { createAddressMatcher, createClientAddressReader } from '@gateway/addresses';
import { type Clock, withTimeout } from '@gateway/base';
import { createHttpServer } from '@gateway/http-server';
import type { GatewayModule } from '@gateway/module';
import { endpointsOf, type TokenCounter } from '@gateway/public-api';
import { type Logger, newId, newRequestId, type Registry } from '@gateway/runtime';
import { after } from './after';
import { createRecentRefusals } from './recent-refusals';
import type { CheckBodyPorts } from './chat/check-body';
import type { ReceiveBodyPorts } from './chat/handle-chat-completion';
import { createAuthenticator } from './access/authenticate';
import { createEdgeMetrics } from './metrics';
import { createHandlers } from './handlers';
import { createAbuseLimiter } from './abuse-limit/abuse-limiter';
import { createResponseWriter } from './http/response/response-writer';
import { createCors } from './http/response/cors';
import { createApp } from './http/server/app';
import { createKeepAlive } from './http/response/event-stream';
import { unreadableResponse } from './http/server/unreadable-requests';
import { createBodyReader } from './http/request/read-body';
import {
  AdmissionQueue,
  type BodyThreads,
  createHoldWaits,
  type GenerationRunner,
  type KeyDirectory,
  type Ledger,
  limits,
  type ModelCatalogue,
  openReservation,
  type PageThreads,
  type RateLimiter,
  type RefusalReporter,
  type SettledGenerations,
} from '../core';
import { createRequestServer } from './http/server/request-server';
import { createRefusalRecorder } from './refusals/refusal-recorder';
import { defaultEdgeProxySettings, type EdgeProxySettings } from './settings';

export interface EdgeProxyPorts {
  readonly keyDirectory: KeyDirectory;
  readonly rateLimiter: RateLimiter;
  readonly ledger: Ledger;
  readonly catalogue: ModelCatalogue;
  readonly generationRunner: GenerationRunner;
  readonly settledGenerations: SettledGenerations;
  readonly tokenCounter: TokenCounter;
  readonly bodyThreads: BodyThreads;
  readonly pageThreads: PageThreads;
  readonly refusalReporter: RefusalReporter;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Calls back in the next turn of the event loop; setImmediate when absent. */
  readonly inNextTurn?: (callback: () => void) => void;
  /** Overrides `defaultEdgeProxySettings`. */
  readonly settings?: Partial<EdgeProxySettings>;
}

export interface EdgeProxyModule extends GatewayModule {
  /** The port of the public server; undefined before the start. */
  port(): number | undefined;
  /** Whether it accepts requests: it listens, has a model catalogue, and is not stopping. */
  isReady(): boolean;
}

/** The public HTTP API with its own server. Owns no data; see the README. */
export function createEdgeProxyModule(ports: EdgeProxyPorts): EdgeProxyModule {
  const { keyDirectory, rateLimiter, ledger, catalogue, clock, log } = ports;
  const settings = { ...defaultEdgeProxySettings, ...ports.settings };
  const now = () => clock.now();
  const admissionQueue = new AdmissionQueue(
    { now, inNextTurn: ports.inNextTurn ?? setImmediate },
    limits.overload,
  );
  const metrics = createEdgeMetrics(ports.metrics, { queued: () => admissionQueue.queuedCount });

  let stopping = false;
  let port: number | undefined;
  let onIdle = () => {};

  const keepAlive = createKeepAlive(now, {
    idleMs: settings.keepAliveCommentMs,
    firstMs: settings.firstCommentMs,
  });
  const endpoints = endpointsOf(settings.endpoints);
  const cors = createCors(endpoints, settings.corsOrigins, settings.isDashboardOrigin);
  const writer = createResponseWriter(
    { cors, now, isStopping: () => stopping },
    {
      stalledReaderMs: settings.stalledReaderMs,
      maxDrainBytes: Math.max(settings.maxBodyBytes, limits.http.minDrainBytes),
      maxDrainMs: limits.http.maxDrainMs,
    },
  );
  const clientAddress = createClientAddressReader(settings.trustedProxies);
  const abuseLimiter = createAbuseLimiter(
    { clientAddress, clock, onRefused: metrics.abuseLimited },
    {
      maxFailedAuthentications: settings.maxFailedAuthenticationsPerMinute,
      maxInvalidRequests: settings.maxInvalidRequestsPerMinute,
    },
  );
  const authenticate = createAuthenticator({
    keyDirectory,
    clientAddress,
    isAddressAllowed: createAddressMatcher(),
    abuseLimiter,
    clock,
  });
  const receiving: ReceiveBodyPorts = {
    authenticate,
    abuseLimiter,
    admissionQueue,
    readBody: createBodyReader({
      maxBytes: settings.maxBodyBytes,
      maxInflightBytes: settings.maxInflightBodyBytes,
      timeoutMs: settings.bodyTimeoutMs,
      chunkBytes: limits.bodies.chunkBytes,
    }),
    metrics,
    now,
  };
  const checking: CheckBodyPorts = {
    catalogue,
    tokenCounter: ports.tokenCounter,
    pageCounter: ports.pageThreads,
    bodyThreads: ports.bodyThreads,
    dropsHostedTools: settings.dropsHostedTools,
  };
  const generationTimeoutMs = settings.generationTimeoutMs + settings.generationMarginMs;
  const reservationOptions = {
    maxWaitMs: limits.releases.maxResponseDelayMs,
    claimLeaseMs: settings.claimLeaseMs,
  };
  const { settledGenerations, generationRunner } = ports;
  const handlers = createHandlers({
    chatCompletions: {
      receiving,
      checking,
      reserving: {
        holdWaits: createHoldWaits({ maxWaitMs: settings.holdWaitMs, now, random: Math.random }),
        recentRefusals: createRecentRefusals(now),
        generationTimeoutMs,
        holdMarginMs: settings.holdMarginMs,
        elasticHoldTokens: settings.elasticHoldTokens,
      },
      running: { generationRunner, writer, keepAlive, metrics, log, abuseLimiter, now, generationTimeoutMs },
      openReservation: () => openReservation({ rateLimiter, ledger, after }, reservationOptions),
      newGenerationId: () => newId('gen'),
      clock,
      writer,
    },
    messageTokens: { receiving, checking, writer },
    models: { authenticate, catalogue, endpoints, writer },
    credits: { authenticate, ledger, writer },
    generation: { authenticate, settledGenerations, writer },
    usage: { authenticate, settledGenerations, ledger, clock, writer },
    unknown: { cors, endpoints, writer },
  });
  const refusals = createRefusalRecorder(
    { reporter: ports.refusalReporter, clock, log, onDropped: metrics.refusalsDropped },
    settings.refusalReportIntervalMs,
  );
  const requests = createRequestServer({
    handlers,
    writer,
    metrics,
    refusals,
    log,
    now,
    newRequestId,
    onIdle: () => onIdle(),
  });
  const server = createHttpServer(
    {
      handle: createApp({ endpoints, ...requests }),
      renderUnreadable: (request) => unreadableResponse(request, newRequestId()),
      onError: (error) => log.error({ err: error }, 'the public server failed'),
    },
    {
      host: settings.host,
      port: settings.port,
      tls: settings.tls,
      maxHeaderBytes: limits.http.maxHeaderBytes,
      headersTimeoutMs: limits.http.headersTimeoutMs,
      requestTimeoutMs: settings.bodyTimeoutMs + limits.http.requestTimeoutMarginMs,
      keepAliveMs: settings.idleConnectionMs,
    },
  );

  async function start(): Promise<void> {
    await keyDirectory.start();
    await catalogue.start(settings.catalogueWaitMs);
    rateLimiter.start();
    ledger.start();
    keepAlive.start();
    refusals.start();
    ({ port } = await server.start());
    log.info({ host: settings.host, port }, 'the public API is listening');
  }

  async function stop(): Promise<void> {
    if (stopping) return;
    stopping = true;
    const closed = server.drain();
    await noneRunning(settings.stopGraceMs);
    // Closing the connections cancels the remaining requests; cancelled generations settle.
    server.destroy();
    await closed;
    await noneRunning(limits.releases.stopGraceMs);
    await withTimeout(
      Promise.all([rateLimiter.idle(), ledger.idle()]),
      limits.releases.stopGraceMs,
      'delivering the last releases',
    ).catch(() => undefined);
    await refusals.stop();
    keepAlive.stop();
    rateLimiter.stop();
    ledger.stop();
    await Promise.all([ports.bodyThreads.stop(), ports.pageThreads.stop()]);
    await catalogue.stop();
    await keyDirectory.stop();
  }

  /** Resolves when no request is running, or after `graceMs`. */
  function noneRunning(graceMs: number): Promise<void> {
    const done = new Promise<void>((resolve) => {
      onIdle = () => {
        if (requests.running() === 0) resolve();
      };
      onIdle();
    });
    return withTimeout(done, graceMs, 'finishing the running requests').catch(() => undefined);
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
