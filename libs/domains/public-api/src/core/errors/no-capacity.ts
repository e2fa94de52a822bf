import { errorTable, GatewayError } from '@gateway/errors';

const NOT_BILLED = 'This request was not billed.';

/**
 * The error of a generation. Only generations can be billed, so only
 * their `no_capacity` says that nothing was billed.
 */
export function chatCompletionError(error: GatewayError): GatewayError {
  const { message } = errorTable.no_capacity;
  if (error.code !== 'no_capacity' || error.message !== message) return error;
  const { metadata, internalMessage, cause } = error;
  return new GatewayError('no_capacity', {
    message: `${message} ${NOT_BILLED}`,
    metadata,
    internalMessage,
    cause,
  });
}
