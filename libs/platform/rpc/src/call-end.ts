import { toGatewayError } from '@gateway/errors';
import type { ServedMethod } from './served-methods';
import type { ServerCall } from './server-call';
import { traceOfCall } from './traced-call';

/** How a call ended that was served. */
export interface RpcCallEnd {
  /** Such as `gateway.auth.v1.Auth/VerifyKey`. */
  readonly rpc: string;
  /** "ok", "cancelled" when the caller or its deadline ended it, or the code of the failure. */
  readonly outcome: string;
  readonly durationMs: number;
  /** What the call belongs to. */
  readonly trace?: ReturnType<typeof traceOfCall>;
}

/** @param startedMs of `performance.now()`. */
export function callEnd(
  { service, method }: ServedMethod,
  context: ServerCall,
  startedMs: number,
  outcome: string,
): RpcCallEnd {
  const durationMs = performance.now() - startedMs;
  return { rpc: `${service}/${method}`, outcome, durationMs, trace: traceOfCall(context.metadata) };
}

export function outcomeOf(thrown: unknown): string {
  return toGatewayError(thrown).code;
}
