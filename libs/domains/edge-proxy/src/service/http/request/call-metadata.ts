import type { CallMetadata } from '@gateway/rpc';
import type { IncomingMessage } from 'node:http';
import { readTraceContext, type TraceContext } from '../../../core';
import type { Exchange } from '../exchange';

/**
 * What travels beside the calls that are made for one request alone: its id and
 * the caller's trace, when it has one. Calls that serve many requests together
 * (admissions, holds, key lookups) belong to no trace while none is recorded.
 */
export function callMetadata({ request, requestId }: Exchange): CallMetadata {
  if (request.headers.traceparent === undefined) return { 'x-request-id': requestId };
  return { 'x-request-id': requestId, ...traceOfCaller(request) };
}

/** The trace that the caller names, if it is valid. */
export function traceOfCaller({
  headers: { traceparent, tracestate },
}: IncomingMessage): TraceContext | undefined {
  // Node joins repeated headers with commas, as a tracestate is meant to be.
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  const parent = Array.isArray(traceparent) ? undefined : traceparent;
  return readTraceContext(parent, state);
}
