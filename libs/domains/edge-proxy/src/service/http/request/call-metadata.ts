import type { CallMetadata } from '@gateway/rpc';
import type { IncomingMessage } from 'node:http';
import { readTraceContext, type TraceContext } from '../../../core';
import type { Exchange } from '../exchange';

/**
 * Metadata of calls made for one request: its id and the client's trace, if any.
 * Calls that serve many requests together (admissions, holds, key lookups) carry
 * no client trace.
 */
export function callMetadata({ request, requestId }: Exchange): CallMetadata {
  if (request.headers.traceparent === undefined) return { 'x-request-id': requestId };
  return { 'x-request-id': requestId, ...clientTrace(request) };
}

/** The client's trace, if its headers are valid. */
export function clientTrace({
  headers: { traceparent, tracestate },
}: IncomingMessage): TraceContext | undefined {
  // Node joins repeated headers with commas, as W3C specifies for tracestate.
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  const parent = Array.isArray(traceparent) ? undefined : traceparent;
  return readTraceContext(parent, state);
}
