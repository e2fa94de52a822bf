import { RpcError } from '../rpc-error';
import type { TransportCall } from '../transport';
import { pathOf } from './grpc-wire';

/** Starts a call; a client that is closed throws instead of answering. */
export function startCall<Started>(call: TransportCall, start: () => Started): Started {
  try {
    return start();
  } catch (cause) {
    throw new RpcError('unreachable', `${pathOf(call.service, call.method)} could not be sent`, cause);
  }
}
