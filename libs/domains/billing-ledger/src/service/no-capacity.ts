import { GatewayError } from '@gateway/errors';

/** The error for a full queue of the ledger. */
export function noCapacity(internalMessage: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage });
}
