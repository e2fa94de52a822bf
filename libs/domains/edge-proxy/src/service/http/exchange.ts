import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation, throwIfAborted } from '@gateway/base';
import type { KeyGrant } from '@gateway/contracts/auth';
import type { GatewayError } from '@gateway/errors';
import type { EndpointName, RateLimitState } from '@gateway/public-api';
import type { Span } from '@gateway/telemetry';
import type { Client } from '../../core';
import { RequestCancelled } from './request-cancelled';

/** The routes as metrics and logs name them. */
export type RouteName = EndpointName | 'unknown';

/** One request and its response. */
export interface Exchange extends Client {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Undefined while tracing is off. */
  readonly span: Span | undefined;
  readonly report: RequestReport;
  /** Ends the stream whose head is sent. */
  failStream?: (error: GatewayError) => void;
}

/**
 * What the log, the metrics, the trace, the counts of refusals and the headers of the response say of a request: the steps
 * of a request write it, and none decides by it.
 */
interface RequestReport {
  /** The key, also of a request that it does not allow. */
  caller: KeyGrant | undefined;
  /** The model of the catalogue. */
  modelId: string | undefined;
  /** As a refused request named it. */
  requestedModel: string | undefined;
  rateLimits: RateLimitState | undefined;
  /** Sent as x-generation-id. */
  generationId: string | undefined;
  /** Whether the generation has a record, or will have one. */
  generationRecorded: boolean | undefined;
  /** The error that was sent, in the body or in the stream. */
  error: GatewayError | undefined;
}

/** What is known of a request before it is handled. */
export interface ExchangeStart {
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly span: Span | undefined;
  /** Called once, when the response is complete or the client has disconnected. */
  readonly onClose: (exchange: Exchange) => void;
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { route, requestId, startedAtMs, span, onClose }: ExchangeStart,
): Exchange {
  const signal = new Cancellation();

  const exchange: Exchange = {
    request,
    response,
    route,
    requestId,
    startedAtMs,
    span,
    report: {
      caller: undefined,
      modelId: undefined,
      requestedModel: undefined,
      rateLimits: undefined,
      generationId: undefined,
      generationRecorded: undefined,
      error: undefined,
    },
    signal,
    isCancelled: () => signal.aborted,
    throwIfCancelled: () => throwIfAborted(signal),
  };
  response.on('close', () => {
    if (!response.writableFinished) signal.abort(new RequestCancelled());
    onClose(exchange);
  });
  return exchange;
}
