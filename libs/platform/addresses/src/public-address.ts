import { parseAddress } from './address';

/**
 * Whether an address is a public unicast address: not private, local,
 * carrier-grade NAT, reserved or multicast, and no translated or tunnelled
 * address.
 */
export function isPublicAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'unicast';
}
