import { GatewayError, toGatewayError } from '@gateway/errors';

/**
 * A call to a service that is asked before anything runs. That it could not be
 * reached, or was too slow, is a lack of capacity: nothing was run or billed,
 * and the caller may try again.
 */
export async function withoutDispatch<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error.code !== 'request_timeout' && error.code !== 'upstream_error') throw error;
    throw new GatewayError('no_capacity', { internalMessage: error.internalMessage, cause: thrown });
  }
}
