import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '@gateway/errors';
import type { RateLimitState } from '@gateway/public-api';
import type { Span } from '@gateway/telemetry';
import { RequestCancelled } from './request-cancelled';

/** The routes as metrics and logs name them. */
export type RouteName = 'chat_completions' | 'models' | 'credits' | 'generation' | 'usage' | 'unknown';

/** One request and its answer, with what becomes known on the way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Whether the caller cancelled, by closing its connection before the answer was complete. */
  readonly isCancelled: () => boolean;
  /** Calls back once when the caller cancels, at once when it has. */
  readonly onCancelled: (callback: () => void) => void;
  /** @throws RequestCancelled */
  readonly stopIfCancelled: () => void;

  /** While traces are recorded. */
  span?: Span;
  /** When all of its body was there. */
  bodyReadAtMs?: number;
  /** Sent as x-generation-id. */
  generationId?: string;
  organizationId?: string;
  keyId?: string;
  modelId?: string;
  rateLimits?: RateLimitState;
  /** Of the error that the caller was told, in the body or in the stream. */
  errorCode?: ErrorCode;
}

/** What is known of a request before it is looked at. */
export interface ExchangeStart {
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Called once, when the answer is complete or the caller has cancelled. */
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
    stopIfCancelled: () => {
      if (cancelled) throw new RequestCancelled();
    },
  };
  response.on('close', () => {
    cancelled = !response.writableFinished;
    const waiting = callbacks;
    callbacks = [];
    if (cancelled) for (const callback of waiting) callback();
    onClose(exchange);
  });
  return exchange;
}
