import ipaddr from 'ipaddr.js';
import { parseAddress } from './address';
import { isWithin } from './address-range';

/** The only part of IPv6 from which public unicast addresses are allocated; `::/96`, for example, embeds IPv4. */
const PUBLIC_IPV6 = { network: ipaddr.IPv6.parse('2000::'), prefixBits: 3 };

/**
 * Whether an address is a public unicast address: not private, local,
 * carrier-grade NAT, reserved or multicast, and no translated or tunnelled
 * address.
 */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address?.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isWithin(address, PUBLIC_IPV6);
}
