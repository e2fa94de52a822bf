import { parseAddress } from './address';
import { rangeText } from './address-range';

/** The smallest network that an IPv6 subscriber usually gets. */
const IPV6_SUBSCRIBER_BITS = 64;

/** The shared network of all clients without a valid address. */
export const UNKNOWN_NETWORK = 'unknown';

/**
 * The network by which an address is counted: an IPv4 address itself, or the /64
 * of an IPv6 address, since one subscriber can use all addresses of a /64.
 */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (!address) return UNKNOWN_NETWORK;
  if (address.kind() === 'ipv4') return address.toString();
  return rangeText({ network: address, prefixBits: IPV6_SUBSCRIBER_BITS });
}
