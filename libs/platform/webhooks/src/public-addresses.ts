import { lookup as resolve, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { isPublicAddress } from '@gateway/addresses';

/** The name resolves to a private, local or reserved address. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/**
 * Resolves a name for a connection and refuses it unless all of its addresses are
 * public. The check runs on the resolved addresses of the connection itself, which
 * prevents DNS rebinding.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const found: readonly LookupAddress[] = addresses ?? [];
    if (error) return callback(error, '', 0);
    if (found.length === 0 || !found.every(({ address }) => isPublicAddress(address))) {
      return callback(new PrivateAddressError('the address is not public'), '', 0);
    }
    if (options.all)
      return (callback as unknown as (error: null, all: readonly LookupAddress[]) => void)(null, found);
    return callback(null, found[0]!.address, found[0]!.family);
  });
};

/** Literal addresses are connected to without a lookup, so they are checked separately. */
export function isPrivateLiteral(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  return isIP(literal) !== 0 && !isPublicAddress(literal);
}
