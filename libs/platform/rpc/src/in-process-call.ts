import { CallerLink, endedBeforeStart } from './caller-link';
import { checkedMetadata } from './call-metadata';
import type { DeadlineWheel } from './deadline-wheel';
import { decodeError, encodeError } from './error-codec';
import { type RpcError } from './rpc-error';
import { reportFailure, type RpcLog, type ServedMethod } from './served-methods';
import { ServerCall } from './server-call';
import type { TransportCall } from './transport';

/** What the calls of one in-process transport share. */
export interface InProcessRuntime {
  readonly deadlines: DeadlineWheel;
  /** What every message goes through. */
  readonly handOver: (message: unknown) => unknown;
  readonly log: RpcLog | undefined;
}

/** Opens the handler's side of a call; throws when the call cannot start. */
export function openCall(
  call: TransportCall,
  timeoutMs: number | undefined,
  runtime: InProcessRuntime,
  onEnd: (reason: RpcError) => void,
): { readonly context: ServerCall; readonly link: CallerLink | undefined } {
  const ended = endedBeforeStart(call, timeoutMs);
  if (ended !== undefined) throw ended;
  const metadata = checkedMetadata(call.metadata);
  if (timeoutMs === undefined) {
    const context = new ServerCall(metadata, undefined);
    return { context, link: call.signal && linkTo(context, call, undefined, runtime, onEnd) };
  }
  const context = new ServerCall(metadata, Date.now() + timeoutMs);
  return { context, link: linkTo(context, call, timeoutMs, runtime, onEnd) };
}

function linkTo(
  context: ServerCall,
  call: TransportCall,
  timeoutMs: number | undefined,
  runtime: InProcessRuntime,
  onEnd: (reason: RpcError) => void,
): CallerLink {
  const end = (reason: RpcError): void => {
    context.abort(reason);
    onEnd(reason);
  };
  return new CallerLink(call, runtime.deadlines, end, timeoutMs);
}

/** A handler's failure as the caller gets it. */
export function crossed(thrown: unknown, served: ServedMethod, runtime: InProcessRuntime): Error {
  reportFailure(runtime.log, served, thrown);
  return decodeError(encodeError(thrown));
}
