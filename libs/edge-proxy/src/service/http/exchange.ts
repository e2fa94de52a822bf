import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type ErrorCode } from '@gateway/errors';
import { type RateLimitState } from '@gateway/public-api';
import { ClientGone } from './client-gone';

/** The routes as metrics and logs name them. */
export type RouteName = 'chat_completions' | 'models' | 'credits' | 'generation' | 'usage' | 'unknown';

/** One request and its answer, with what becomes known on the way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Whether the caller hung up before the answer was complete. */
  readonly isGone: () => boolean;
  /** Calls back once when the caller hangs up, at once when it has. */
  readonly onGone: (callback: () => void) => void;
  /** @throws ClientGone */
  readonly stopIfGone: () => void;

  /** Sent as x-generation-id. */
  generationId?: string;
  organizationId?: string;
  keyId?: string;
  modelId?: string;
  rateLimits?: RateLimitState;
  /** Of the error that the caller was told, in the body or in the stream. */
  errorCode?: ErrorCode;
}

export interface ExchangeOptions {
  readonly route: RouteName;
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Called once, when the answer is complete or the caller is gone. */
  readonly onClose: (exchange: Exchange) => void;
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { route, requestId, startedAtMs, onClose }: ExchangeOptions,
): Exchange {
  let gone = false;
  let callbacks: (() => void)[] = [];

  const exchange: Exchange = {
    request,
    response,
    route,
    requestId,
    startedAtMs,
    isGone: () => gone,
    onGone: (callback) => {
      if (gone) callback();
      else callbacks.push(callback);
    },
    stopIfGone: () => {
      if (gone) throw new ClientGone();
    },
  };
  response.once('close', () => {
    gone = !response.writableFinished;
    const waiting = callbacks;
    callbacks = [];
    if (gone) for (const callback of waiting) callback();
    onClose(exchange);
  });
  return exchange;
}
