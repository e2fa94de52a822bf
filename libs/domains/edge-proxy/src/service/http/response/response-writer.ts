import type { GatewayError } from '@gateway/errors';
import {
  type ResponseHeaders,
  addRateLimitHeaders,
  addRetryHeaders,
  chatCompletionError,
  responseFormats,
} from '@gateway/public-api';
import { limits } from '../../../core';
import type { Exchange } from '../exchange';
import { errorFormatOf, isGeneration } from '../generation-format';
import { expectsContinue } from '../request/read-body';
import type { Cors } from './cors';
import { sendHead } from './response-sink';
import { securityHeaders } from './security-headers';

export interface ResponseWriterOptions {
  /** A client that reads nothing for this long after the end of its response is disconnected. */
  readonly stalledReaderMs: number;
  /** How much of a body is read and discarded after its early refusal. */
  readonly maxDrainBytes: number;
  readonly maxDrainMs: number;
}

export interface ResponseWriter {
  json(exchange: Exchange, status: number, body: string | Uint8Array, extra?: ResponseHeaders): void;
  error(exchange: Exchange, error: GatewayError): void;
  /** Sends 204 with headers only. */
  empty(exchange: Exchange, extra: ResponseHeaders): void;
  /** Sends the head of an event stream; the caller writes the events. */
  openEventStream(exchange: Exchange, extra?: ResponseHeaders): void;
  /** Ends a response whose head is sent. Disconnects the client when it stops reading. */
  end(exchange: Exchange, body: string | Uint8Array): void;
}

export interface ResponseWriterPorts {
  readonly cors: Cors;
  readonly now: () => number;
  /** While the server stops, each response closes its connection. */
  readonly isStopping: () => boolean;
}

/** Writes responses with their common headers. */
export function createResponseWriter(
  { cors, now, isStopping }: ResponseWriterPorts,
  options: ResponseWriterOptions,
): ResponseWriter {
  const fixedHeaders = securityHeaders();

  function json(
    exchange: Exchange,
    status: number,
    body: string | Uint8Array,
    extra?: ResponseHeaders,
  ): void {
    const { request, response } = exchange;
    const headers = commonHeaders(exchange, extra);
    headers['content-type'] = 'application/json';
    headers['cache-control'] = 'no-store';
    headers['content-length'] = Buffer.byteLength(body);
    const unread = unreadBodyOf(exchange);
    if (unread === 'long') headers['connection'] = 'close';
    response.writeHead(status, headers);
    if (unread !== 'long' || expectsContinue(request)) return end(exchange, body);

    // Closing the connection while the client still sends would reset it, and the
    // client might never see the response. So the response is sent first and the
    // rest of the body is read, up to `maxDrainBytes`. The client has until
    // `maxDrainMs` to read the response and close.
    response.write(body);
    let drained = 0;
    const finish = () => {
      clearTimeout(timer);
      request.off('data', count).off('end', finish).off('close', finish);
      request.pause();
      end(exchange, '');
    };
    const count = (chunk: Buffer) => {
      drained += chunk.length;
      if (drained > options.maxDrainBytes) request.off('data', count).pause();
    };
    const timer = setTimeout(finish, options.maxDrainMs);
    request.on('data', count).once('end', finish).once('close', finish).resume();
  }

  function error(exchange: Exchange, raised: GatewayError): void {
    const gatewayError = isGeneration(exchange.route) ? chatCompletionError(raised) : raised;
    exchange.report.error = gatewayError;
    const headers: ResponseHeaders = {};
    addRetryHeaders(headers, gatewayError);
    const { errorBody } = responseFormats[errorFormatOf(exchange.route)];
    json(exchange, gatewayError.row.httpStatus, JSON.stringify(errorBody(gatewayError)), headers);
  }

  function empty(exchange: Exchange, extra: ResponseHeaders): void {
    exchange.response.writeHead(204, commonHeaders(exchange, extra));
    end(exchange, '');
  }

  function openEventStream(exchange: Exchange, extra?: ResponseHeaders): void {
    const headers = commonHeaders(exchange, extra);
    headers['content-type'] = 'text/event-stream; charset=utf-8';
    headers['cache-control'] = 'no-cache, no-transform';
    // Disables response buffering in nginx.
    headers['x-accel-buffering'] = 'no';
    exchange.response.writeHead(200, headers);
    sendHead(exchange.response);
  }

  function end({ response }: Exchange, body: string | Uint8Array): void {
    response.end(body);
    if (response.writableLength > 0) response.setTimeout(options.stalledReaderMs);
  }

  function commonHeaders(exchange: Exchange, extra?: ResponseHeaders): ResponseHeaders {
    const headers: ResponseHeaders = {
      'x-request-id': exchange.requestId,
      'openai-processing-ms': Math.max(0, Math.round(now() - exchange.startedAtMs)),
      // Spread last: an object that starts as a copy and then grows gets its own hidden class in V8.
      ...fixedHeaders,
      ...cors.headersFor(exchange.request),
    };
    const { generationId, rateLimits } = exchange.report;
    if (generationId !== undefined) headers['x-generation-id'] = generationId;
    // The SDKs of Anthropic read this name.
    if (errorFormatOf(exchange.route) === 'messages') headers['request-id'] = exchange.requestId;
    if (rateLimits) addRateLimitHeaders(headers, rateLimits);
    if (isStopping()) headers['connection'] = 'close';
    return extra ? Object.assign(headers, extra) : headers;
  }

  return { json, error, empty, openEventStream, end };
}

/** Whether part of the request's body is unread, and whether it is short enough to read it and reuse the connection. */
function unreadBodyOf({ request }: Exchange): 'none' | 'short' | 'long' {
  if (request.complete) return 'none';
  const declared = request.headers['content-length'];
  if (declared === undefined && request.headers['transfer-encoding'] === undefined) return 'none';
  if (expectsContinue(request)) return 'long';
  return declared !== undefined && Number(declared) <= limits.http.maxReusableBodyBytes ? 'short' : 'long';
}
