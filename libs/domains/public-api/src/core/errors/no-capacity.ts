import { errorTable, GatewayError } from '@gateway/errors';

const NOT_BILLED = 'This request was not billed.';

/**
 * An error as a chat completion is told it. Of all requests only these could
 * have been billed, so only they are told that they were not.
 */
export function ofChatCompletion(error: GatewayError): GatewayError {
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
