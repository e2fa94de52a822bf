import { GatewayError } from '@gateway/errors';

/** Another service sent a message without its outcome. */
export function missingOutcome(what: string): GatewayError {
  return new GatewayError('internal_error', { internalMessage: `${what} has no outcome` });
}
