import { parseAddress } from './address';

/**
 * Whether an address is one of the internet: not private, local, shared by a
 * carrier, reserved or for many, and not one that stands for another address.
 */
export function isPublicAddress(text: string): boolean {
  return parseAddress(text)?.range() === 'unicast';
}
