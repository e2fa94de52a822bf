import { AdminRefusalReason, type AdminRefusal } from '@gateway/contracts/auth';
import { DashboardError, type DashboardErrorCode } from '@gateway/dashboard-contract';
import { GatewayError } from '@gateway/errors';
import { isRpcCancelled, isRpcDeadlineExceeded, isRpcUnavailable } from '@gateway/rpc';

const CODE_OF_REASON: Readonly<Record<AdminRefusalReason, DashboardErrorCode>> = {
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_UNSPECIFIED]: 'internal',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_FOUND]: 'not_found',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_INVALID]: 'invalid',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFLICT]: 'conflict',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_VERSION_CONFLICT]: 'version_conflict',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_FORBIDDEN]: 'forbidden',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_LINK_NOT_VALID]: 'link_not_valid',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_SIGNED_IN]: 'not_signed_in',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_SIGN_IN_REFUSED]: 'sign_in_refused',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REQUIRED]: 'second_factor_required',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_SECOND_FACTOR_REFUSED]: 'second_factor_refused',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_TOO_MANY_ATTEMPTS]: 'too_many_attempts',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_NOT_CONFIGURED]: 'conflict',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_ACCOUNT_DISABLED]: 'account_disabled',
  [AdminRefusalReason.ADMIN_REFUSAL_REASON_CONFIRMATION_REQUIRED]: 'confirmation_required',
};

function refusalError({ reason, message, field, retryAfterMs }: AdminRefusal): DashboardError {
  return new DashboardError(CODE_OF_REASON[reason], {
    message,
    ...(field === undefined ? {} : { param: field }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Returns the value of a response, or throws its refusal. */
export function unwrap<Value>(
  outcome: { $case: 'refusal'; value: AdminRefusal } | { $case: string; value: Value } | undefined,
): Value {
  if (outcome === undefined) throw new Error('the response has no outcome');
  if (outcome.$case === 'refusal') throw refusalError(outcome.value as AdminRefusal);
  return outcome.value as Value;
}

/** Throws the refusal of a response without a value. */
export function throwIfRefused(refusal: AdminRefusal | undefined): void {
  if (refusal) throw refusalError(refusal);
}

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
  const options = { message: error.message, ...(error.param === undefined ? {} : { param: error.param }) };
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
