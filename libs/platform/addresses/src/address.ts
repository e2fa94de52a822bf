import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Parses an address strictly: four decimal parts or IPv6, no octal, no short
 * forms, no zone. An IPv4-mapped IPv6 address becomes IPv4.
 */
export function parseAddress(text: string): Address | undefined {
  const address = parseAsWritten(text);
  return address && unmap(address);
}

/** The same, but an IPv4-mapped IPv6 address stays IPv6. */
export function parseAsWritten(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined;
  // ipaddr.js reads `::192.0.2.1`, which is IPv4-compatible, as IPv4-mapped.
  return ipaddr.IPv6.parse(text.replace(/^::(?=\d+\.)/, '0:0:0:0:0:0:'));
}

export function unmap(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

export function bitsOf(address: Address): 32 | 128 {
  return address.kind() === 'ipv4' ? 32 : 128;
}
