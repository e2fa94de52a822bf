import { createLogSampler } from '@gateway/base';
import { GatewayError, toGatewayError } from '@gateway/errors';
import type { Logger } from '@gateway/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EdgeMetrics } from '../../metrics';
import type { RefusalRecorder } from '../../refusals/refusal-recorder';
import type { ResponseWriter } from '../response/response-writer';
import { RequestCancelled } from '../request-cancelled';
import { limits } from '../../../core';
import { countHeader } from '../request/count-header';
import { type Exchange, openExchange, type RouteName } from '../exchange';
import { endRequestSpan, inRequestSpan, openRequestSpan } from './request-span';

export interface RequestServerPorts {
  readonly handlers: Readonly<Record<RouteName, (exchange: Exchange) => Promise<void> | void>>;
  readonly writer: ResponseWriter;
  readonly metrics: EdgeMetrics;
  readonly refusals: Pick<RefusalRecorder, 'count'>;
  readonly log: Logger;
  readonly now: () => number;
  readonly newRequestId: () => string;
  /** Called whenever a response or the work of a request completes. */
  readonly onIdle: () => void;
}

export interface RequestServer {
  serve(route: RouteName, request: IncomingMessage, response: ServerResponse): void;
  serveFailure(error: unknown, request: IncomingMessage, response: ServerResponse): void;
  /** Incomplete responses plus unfinished work; 0 when the server is idle. */
  running(): number;
}

/** The conventional access-log status of a client that disconnected. */
const CLIENT_CLOSED_REQUEST = 499;

/** Runs handlers so that each request gets one response, one log line and one metric sample, also after an exception. */
export function createRequestServer(ports: RequestServerPorts): RequestServer {
  const { handlers, writer, metrics, refusals, log, now, newRequestId, onIdle } = ports;
  // A request's log line has only ids and codes. Redaction would cost more than
  // everything else in this file.
  const requestLog = log.child({}, { redact: [] });
  const sampler = createLogSampler(now, { everyMs: limits.logs.refusalIntervalMs });
  let running = 0;

  function serve(route: RouteName, request: IncomingMessage, response: ServerResponse): void {
    const exchange = open(route, request, response);
    void inRequestSpan(exchange, () => run(exchange, handlers[route]));
  }

  function serveFailure(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    void run(open('unknown', request, response), () => {
      throw error;
    });
  }

  function open(route: RouteName, request: IncomingMessage, response: ServerResponse): Exchange {
    metrics.requestOpened();
    enter();
    const startedAtMs = now();
    const requestId = newRequestId();
    const span = openRequestSpan(request, route, requestId);
    return openExchange(request, response, { route, requestId, startedAtMs, span, onClose });
  }

  async function run(
    exchange: Exchange,
    handle: (exchange: Exchange) => Promise<void> | void,
  ): Promise<void> {
    enter();
    try {
      checkHost(exchange.request);
      await handle(exchange);
    } catch (thrown) {
      fail(exchange, thrown);
    } finally {
      leave();
    }
  }

  function fail(exchange: Exchange, thrown: unknown): void {
    if (thrown instanceof RequestCancelled) return;
    const error = toGatewayError(thrown);
    const { requestId, report } = exchange;
    const { generationId, caller } = report;
    const ids = { requestId, generationId, organizationId: caller?.organizationId, keyId: caller?.keyId };
    if (error.code === 'no_capacity') logRefusal(error, ids);
    else if (error.row.httpStatus >= 500) log.error({ err: error, ...ids }, 'a request failed');
    if (exchange.isCancelled()) return;
    const { response, failStream } = exchange;
    if (!response.headersSent) writer.error(exchange, error);
    else if (failStream && !response.writableEnded) failStream(error);
    // Closing the connection shows that the response is incomplete.
    else response.destroy();
  }

  /** Sampled and without a stack: overload refuses thousands of requests for one reason. */
  function logRefusal(error: GatewayError, ids: object): void {
    const reason = error.internalMessage ?? error.code;
    const suppressed = sampler.sample(reason);
    if (suppressed !== undefined) log.warn({ ...ids, reason, suppressed }, 'request refused: no capacity');
  }

  function onClose(exchange: Exchange): void {
    const { requestId, route, request, report } = exchange;
    const { generationId, caller, modelId, error } = report;
    const status = exchange.isCancelled() ? CLIENT_CLOSED_REQUEST : exchange.response.statusCode;
    const durationMs = now() - exchange.startedAtMs;
    metrics.requestClosed(exchange, status, durationMs);
    if (error) refusals.count(exchange);
    const line = {
      requestId,
      generationId,
      organizationId: caller?.organizationId,
      keyId: caller?.keyId,
      modelId,
      method: request.method,
      route,
      status,
      code: error?.code,
      durationMs,
    };
    inRequestSpan(exchange, () => requestLog.info(line, 'request'));
    endRequestSpan(exchange, status);
    leave();
  }

  // A request counts twice: for its response and for its work. With an
  // Idempotency-Key the work may outlast the connection.
  function enter(): void {
    running += 1;
  }

  function leave(): void {
    running -= 1;
    onIdle();
  }

  return { serve, serveFailure, running: () => running };
}

/** Node's own check is off, so that the response has an error envelope. */
function checkHost(request: IncomingMessage): void {
  const invalidHost = (message: string) => new GatewayError('invalid_request', { message, param: 'Host' });
  if (request.headers.host === undefined) {
    if (request.httpVersion === '1.1') throw invalidHost('The Host header is missing.');
  } else if (countHeader(request, 'host') > 1) throw invalidHost('There is more than one Host header.');
}
