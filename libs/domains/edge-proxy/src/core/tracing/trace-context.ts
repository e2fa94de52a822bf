/** The headers of W3C Trace Context, as they are propagated. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const MAX_TRACEPARENT_LENGTH = 512;

/** The minimum that W3C requires to be propagated. A longer list is dropped rather than truncated. */
const MAX_TRACESTATE_LENGTH = 512;
const MAX_TRACESTATE_MEMBERS = 32;
const MEMBER =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/**
 * The client's trace, or undefined without a valid traceparent. A traceparent
 * of a later version is rewritten as version 00. An invalid tracestate is
 * dropped; the traceparent stays.
 */
export function readTraceContext(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  if (traceparent === undefined || traceparent.length > MAX_TRACEPARENT_LENGTH) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] =
    TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(parentId)) return undefined;

  const knownFlags = version === '00' ? flags : sampledOnly(flags);
  const version00 = `00-${traceId}-${parentId}-${knownFlags}`;
  const state = readTraceState(tracestate);
  return state === undefined ? { traceparent: version00 } : { traceparent: version00, tracestate: state };
}

/** Version 00 defines only the sampled flag. */
function sampledOnly(flags: string): string {
  return (parseInt(flags, 16) & 1) === 1 ? '01' : '00';
}

function readTraceState(tracestate: string | undefined): string | undefined {
  if (tracestate === undefined || tracestate.length > MAX_TRACESTATE_LENGTH) return undefined;
  const members = tracestate
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter(Boolean);
  const isValid = members.length > 0 && members.length <= MAX_TRACESTATE_MEMBERS;
  return isValid && members.every((member) => MEMBER.test(member)) ? members.join(',') : undefined;
}
