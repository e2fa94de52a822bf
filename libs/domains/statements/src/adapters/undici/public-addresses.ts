import { lookup as resolve, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { isPublicAddress } from '@gateway/addresses';

/** The name leads into a private network, to this machine, or nowhere that is on the internet. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/**
 * Resolves a name for a connection, and refuses it unless each of its
 * addresses is one of the internet. It is looked at where the connection is
 * made, so that a name cannot lead elsewhere after it was looked at.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const found: readonly LookupAddress[] = addresses ?? [];
    if (error) return callback(error, '', 0);
    if (found.length === 0 || !found.every(({ address }) => isPublicAddress(address))) {
      return callback(new PrivateAddressError('the address is not a public one'), '', 0);
    }
    if (options.all)
      return (callback as unknown as (error: null, all: readonly LookupAddress[]) => void)(null, found);
    return callback(null, found[0]!.address, found[0]!.family);
  });
};

/** An address that is written as a number is connected to without a lookup. */
export function isPrivateLiteral(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) !== 0 && !isPublicAddress(literal);
}
