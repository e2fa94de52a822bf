import { createLogSampler } from '@gateway/base';
import { GatewayError, toGatewayError } from '@gateway/errors';
import type { Logger } from '@gateway/runtime';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EdgeMetrics } from '../../metrics';
import type { Answerer } from '../answer/answer';
import { RequestCancelled } from '../request-cancelled';
import { limits } from '../../../core';
import { type Exchange, openExchange, type RouteName } from '../exchange';
import { endRequestSpan, inRequestSpan, openRequestSpan } from './request-span';

export interface ServerOfRequestsPorts {
  readonly handlers: Readonly<Record<RouteName, (exchange: Exchange) => Promise<void> | void>>;
  readonly answer: Answerer;
  readonly metrics: EdgeMetrics;
  readonly log: Logger;
  readonly now: () => number;
  readonly newRequestId: () => string;
  /** Called when a request has been answered and nothing of it runs any more. */
  readonly onIdle: () => void;
}

export interface ServerOfRequests {
  serve(route: RouteName, request: IncomingMessage, response: ServerResponse): void;
  serveFailure(error: unknown, request: IncomingMessage, response: ServerResponse): void;
  /** Requests whose answer or whose work is not complete. */
  running(): number;
}

/** What access logs conventionally say of a caller that cancelled. */
const CLIENT_CLOSED_REQUEST = 499;

/** Runs handlers so that each request gets one answer, one log line and one sample, whatever is thrown. */
export function createServerOfRequests(ports: ServerOfRequestsPorts): ServerOfRequests {
  const { handlers, answer, metrics, log, now, newRequestId, onIdle } = ports;
  // The line of a request has ids and codes only; looking for secret fields in
  // it would cost more than all else that is done for it here.
  const requestLog = log.child({}, { redact: [] });
  const sampler = createLogSampler(now, { everyMs: limits.logs.refusalsEveryMs });
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
    const start = { route, requestId: newRequestId(), startedAtMs: now(), onClose };
    const exchange = openExchange(request, response, start);
    exchange.span = openRequestSpan(exchange);
    return exchange;
  }

  async function run(
    exchange: Exchange,
    handle: (exchange: Exchange) => Promise<void> | void,
  ): Promise<void> {
    enter();
    try {
      // Node leaves this to us, so that the answer has an envelope.
      if (exchange.request.headers.host === undefined && exchange.request.httpVersion === '1.1') {
        throw new GatewayError('invalid_request', { message: 'The Host header is missing.', param: 'Host' });
      }
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
    const { requestId, generationId, organizationId, keyId } = exchange;
    const ids = { requestId, generationId, organizationId, keyId };
    if (error.code === 'no_capacity') tellRefusal(error, ids);
    else if (error.row.httpStatus >= 500) {
      const details = { err: error, cause: error.cause, internal: error.internalMessage };
      log.error({ ...details, ...ids }, 'a request failed');
    }
    if (exchange.isCancelled()) return;
    // Half an answer cannot be mended; a cut connection at least does not look complete.
    if (exchange.response.headersSent) exchange.response.destroy();
    else answer.error(exchange, error);
  }

  /** Overload refuses thousands for one reason: a stack and a line for each would be load as well, and no news. */
  function tellRefusal(error: GatewayError, ids: object): void {
    const reason = error.internalMessage ?? error.message;
    const untold = sampler.sample(reason);
    if (untold !== undefined)
      log.warn({ ...ids, reason, untold }, 'a request is refused for want of capacity');
  }

  function onClose(exchange: Exchange): void {
    const { requestId, generationId, organizationId, keyId, modelId, route, errorCode, request } = exchange;
    const status = exchange.isCancelled() ? CLIENT_CLOSED_REQUEST : exchange.response.statusCode;
    const durationMs = now() - exchange.startedAtMs;
    metrics.requestClosed(exchange, status, durationMs);
    const line = {
      requestId,
      generationId,
      organizationId,
      keyId,
      modelId,
      method: request.method,
      route,
      status,
      code: errorCode,
      durationMs,
    };
    inRequestSpan(exchange, () => requestLog.info(line, 'request'));
    endRequestSpan(exchange, status);
    leave();
  }

  // A request counts twice: its answer must be out, and its work must be done,
  // which with an Idempotency-Key may take longer than the caller stays.
  function enter(): void {
    running += 1;
  }

  function leave(): void {
    running -= 1;
    onIdle();
  }

  return { serve, serveFailure, running: () => running };
}
