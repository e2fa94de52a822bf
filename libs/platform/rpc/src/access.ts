import { RpcError } from './rpc-error';
import type { ServedMethod } from './served-methods';

/** A call that was refused because its caller may not make it. */
export interface DeniedCall {
  /** Such as "gateway.auth.v1.Auth/VerifyKey". */
  readonly rpc: string;
  /** The service that called; undefined when its certificate names none. */
  readonly caller: string | undefined;
}

/** The error for a caller that is not among the callers of the method's contract; undefined when the call is allowed. */
export function denial(
  { service, method, callers }: Pick<ServedMethod, 'service' | 'method' | 'callers'>,
  caller: string | undefined,
): RpcError | undefined {
  if (caller !== undefined && callers.includes(caller)) return undefined;
  return new RpcError(
    'permission_denied',
    `${caller ?? 'a client without a service name'} may not call ${service}/${method}`,
  );
}
