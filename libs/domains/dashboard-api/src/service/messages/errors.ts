import { DashboardError } from '@gateway/dashboard-contract';
import { GatewayError } from '@gateway/errors';
import { isRpcCancelled, isRpcDeadlineExceeded, isRpcUnavailable } from '@gateway/rpc';

/** Maps any thrown value to an error of this API. */
export function toDashboardError(thrown: unknown): DashboardError {
  if (thrown instanceof DashboardError) return thrown;
  if (isRpcDeadlineExceeded(thrown)) {
    return new DashboardError('unavailable', {
      message: 'The request timed out. The change may have been made: check before you retry.',
      cause: thrown,
    });
  }
  if (isRpcUnavailable(thrown) || isRpcCancelled(thrown))
    return new DashboardError('unavailable', { cause: thrown });
  if (thrown instanceof GatewayError) return ofGatewayError(thrown);
  return ofHttpError(thrown) ?? new DashboardError('internal', { cause: thrown });
}

function ofGatewayError(error: GatewayError): DashboardError {
  const options = { message: error.message, param: error.param };
  if (error.code === 'invalid_request') return new DashboardError('invalid', options);
  if (error.code === 'no_capacity') return new DashboardError('unavailable', { cause: error });
  return new DashboardError('internal', { cause: error });
}

/** Errors of express and its body parser, which carry a status. */
function ofHttpError(thrown: unknown): DashboardError | undefined {
  if (!(thrown instanceof Error) || !('status' in thrown)) return undefined;
  switch (thrown.status) {
    case 413:
      return new DashboardError('body_too_large');
    case 415:
      return new DashboardError('unsupported_media_type', {
        message: 'The content encoding is not supported.',
      });
    case 400:
      // URIError: the path cannot be decoded. Other errors come from the body.
      return thrown instanceof URIError
        ? new DashboardError('not_found', { message: 'The path is not valid.' })
        : new DashboardError('invalid_json');
    default:
      return undefined;
  }
}
