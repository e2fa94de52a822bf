import { GatewayError } from '@gateway/errors';
import { isRpcDeadlineExceeded, isRpcUnavailable } from '@gateway/rpc';

/**
 * A call to a service that is asked before anything runs. That it could not be
 * reached, or was too slow, is a lack of capacity: nothing was run or billed,
 * and the caller may try again.
 */
export async function withoutDispatch<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (thrown) {
    if (!isRpcUnavailable(thrown) && !isRpcDeadlineExceeded(thrown)) throw thrown;
    throw new GatewayError('no_capacity', { internalMessage: thrown.internalMessage, cause: thrown });
  }
}
