import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '@gateway/errors';
import type { EndpointName, RateLimitState } from '@gateway/public-api';
import type { Span } from '@gateway/telemetry';
import { RequestCancelled } from './request-cancelled';

/** The routes as metrics and logs name them. */
export type RouteName = EndpointName | 'unknown';

/** One request and its response, with the ids and results that become known while it is handled. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Whether the client disconnected before the response was complete. */
  readonly isCancelled: () => boolean;
  /** Calls back once when the client disconnects, or immediately when it already has. */
  readonly onCancelled: (callback: () => void) => void;
  /** @throws RequestCancelled */
  readonly throwIfCancelled: () => void;

  /** Undefined while tracing is off. */
  span?: Span;
  /** When the last byte of the body arrived. */
  bodyReadAtMs?: number;
  /** For open holds to be settled. */
  waitedForCreditMs?: number;
  /** Sent as x-generation-id. */
  generationId?: string | undefined;
  /** Whether the generation has a record, or will have one. */
  generationRecorded?: boolean;
  organizationId?: string;
  keyId?: string;
  projectId?: string;
  /** The model of the catalogue. */
  modelId?: string;
  /** As a refused request named it. */
  requestedModel?: string;
  rateLimits?: RateLimitState;
  /** The error that was sent, in the body or in the stream. */
  error?: GatewayError;
  /** Ends the stream whose head is sent. */
  failStream?: (error: GatewayError) => void;
}

/** What is known of a request before it is handled. */
export interface ExchangeStart {
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Called once, when the response is complete or the client has disconnected. */
  readonly onClose: (exchange: Exchange) => void;
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { route, requestId, startedAtMs, onClose }: ExchangeStart,
): Exchange {
  let cancelled = false;
  let callbacks: (() => void)[] = [];

  const exchange: Exchange = {
    request,
    response,
    route,
    requestId,
    startedAtMs,
    isCancelled: () => cancelled,
    onCancelled: (callback) => {
      if (cancelled) callback();
      else callbacks.push(callback);
    },
    throwIfCancelled: () => {
      if (cancelled) throw new RequestCancelled();
    },
  };
  response.on('close', () => {
    cancelled = !response.writableFinished;
    const pending = callbacks;
    callbacks = [];
    if (cancelled) for (const callback of pending) callback();
    onClose(exchange);
  });
  return exchange;
}
