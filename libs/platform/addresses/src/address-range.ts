import ipaddr from 'ipaddr.js';
import { bitsOf, parseAsWritten, unmap, type Address } from './address';

/** The addresses whose first bits are those of the network. */
export interface AddressRange {
  readonly network: Address;
  readonly prefixBits: number;
}

/** The prefix bits of an IPv4-mapped IPv6 address. */
const IPV4_MAPPED_BITS = 96;

/** Parses an address or a CIDR range, as strictly as `parseAddress`; undefined when it is neither. */
export function parseRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/');
  const address = parseAsWritten(slash === -1 ? text : text.slice(0, slash));
  if (!address) return undefined;
  if (slash === -1) return unmapRange(address, bitsOf(address));
  const prefix = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bitsOf(address)) return undefined;
  return unmapRange(address, Number(prefix));
}

/** Whether the text is an address or a CIDR range. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/**
 * The canonical form of a range: lower case, host bits cleared, a range of one
 * address as that address; undefined when the text is neither.
 */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  return range && rangeText(range);
}

export function isWithin(address: Address, { network, prefixBits }: AddressRange): boolean {
  return address.kind() === network.kind() && address.match(network, prefixBits);
}

export function rangeText({ network, prefixBits }: AddressRange): string {
  if (prefixBits === bitsOf(network)) return network.toString();
  const bytes = network.toByteArray().map((byte, index) => {
    const networkBits = Math.min(8, Math.max(0, prefixBits - index * 8));
    return byte & (0xff << (8 - networkBits)) & 0xff;
  });
  return `${ipaddr.fromByteArray(bytes).toString()}/${prefixBits}`;
}

/** `::ffff:192.0.2.0/120` is the IPv4 range 192.0.2.0/24. */
function unmapRange(address: Address, prefixBits: number): AddressRange {
  const network = unmap(address);
  if (network === address || prefixBits < IPV4_MAPPED_BITS) return { network: address, prefixBits };
  return { network, prefixBits: prefixBits - IPV4_MAPPED_BITS };
}
