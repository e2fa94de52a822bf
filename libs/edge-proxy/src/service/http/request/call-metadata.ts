import { type CallMetadata } from '@gateway/rpc';
import { readTraceContext } from '../../../core';
import { type Exchange } from '../exchange';

/**
 * What travels beside the calls that are made for one request alone: its id and
 * the caller's trace, when it has one. Calls that serve many requests together
 * (admissions, holds, key lookups) belong to no trace.
 */
export function callMetadata({ request: { headers }, requestId }: Exchange): CallMetadata {
  const { traceparent, tracestate } = headers;
  if (traceparent === undefined) return { 'x-request-id': requestId };
  // Node joins repeated headers with commas, as a tracestate is meant to be.
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  const parent = Array.isArray(traceparent) ? undefined : traceparent;
  return { 'x-request-id': requestId, ...readTraceContext(parent, state) };
}
