import { GatewayError } from '@gateway/errors';

/** What a client gets when a queue of the ledger is full. */
export function noCapacity(internalMessage: string): GatewayError {
  return new GatewayError('no_capacity', { internalMessage });
}
