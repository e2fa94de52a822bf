import { parseAddress } from './address';
import { rangeText } from './address-range';

/** An IPv6 subscriber is given at least this much, and could change address within it at will. */
const IPV6_SUBSCRIBER_BITS = 64;

/** Whom everybody without a readable address counts as, together. */
export const UNKNOWN_NETWORK = 'unknown';

/**
 * Whom an address stands for when something is counted by address: an IPv4
 * address itself, an IPv6 address its /64, whose addresses are all one
 * subscriber's to choose from.
 */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (!address) return UNKNOWN_NETWORK;
  if (address.kind() === 'ipv4') return address.toString();
  return rangeText({ network: address, prefixBits: IPV6_SUBSCRIBER_BITS });
}
