import { createAddressMatcher, createClientAddressReader } from '@gateway/addresses';
import { type Clock, withTimeout } from '@gateway/base';
import { createHttpServer } from '@gateway/http-server';
import type { GatewayModule } from '@gateway/module';
import { endpointsOf } from '@gateway/public-api';
import { type Logger, newId, newRequestId, type Registry } from '@gateway/runtime';
import { createHoldWaits } from './admission/hold-waits';
import { createRecentRefusals } from './admission/recent-refusals';
import { openReservation, type ReservationPorts } from './admission/reservation';
import { createAuthenticator } from './access/authenticate';
import { createEdgeMetrics } from './metrics';
import { createHandlers, type HandlerPorts } from './handlers';
import { createAbuseLimiter } from './abuse-limit/abuse-limiter';
import { createResponseWriter } from './http/response/response-writer';
import { createCors } from './http/response/cors';
import { createApp } from './http/server/app';
import { createKeepAlive } from './http/response/event-stream';
import { unreadableResponse } from './http/server/unreadable-requests';
import { createBodyReader } from './http/request/read-body';
import { AdmissionQueue, type KeyDirectory, limits, type PageThreads, type RefusalReporter } from '../core';
import { createRequestServer } from './http/server/request-server';
import { createRefusalRecorder } from './refusals/refusal-recorder';
import { defaultEdgeProxySettings, type EdgeProxySettings } from './settings';

export interface EdgeProxyPorts
  extends
    ReservationPorts,
    Pick<
      HandlerPorts,
      'tokenCounter' | 'bodyThreads' | 'catalogue' | 'generationRunner' | 'settledGenerations'
    > {
  readonly pageThreads: PageThreads;
  readonly keyDirectory: KeyDirectory;
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
  const reservationOptions = {
    maxWaitMs: limits.releases.maxResponseDelayMs,
    claimLeaseMs: settings.claimLeaseMs,
  };
  const handlers = createHandlers({
    cors,
    endpoints,
    dropsHostedTools: settings.dropsHostedTools,
    authenticate,
    abuseLimiter,
    admissionQueue,
    readBody: createBodyReader({
      maxBytes: settings.maxBodyBytes,
      maxInflightBytes: settings.maxInflightBodyBytes,
      timeoutMs: settings.bodyTimeoutMs,
      chunkBytes: limits.bodies.chunkBytes,
    }),
    catalogue,
    tokenCounter: ports.tokenCounter,
    pageCounter: ports.pageThreads,
    bodyThreads: ports.bodyThreads,
    openReservation: () => openReservation({ rateLimiter, ledger }, reservationOptions),
    holdWaits: createHoldWaits({ maxWaitMs: settings.holdWaitMs, now }),
    recentRefusals: createRecentRefusals(now),
    newGenerationId: () => newId('gen'),
    clock,
    holdMarginMs: settings.holdMarginMs,
    elasticHoldTokens: settings.elasticHoldTokens,
    generationRunner: ports.generationRunner,
    writer,
    keepAlive,
    metrics,
    log,
    now,
    generationTimeoutMs: settings.generationTimeoutMs + settings.generationMarginMs,
    ledger,
    settledGenerations: ports.settledGenerations,
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
