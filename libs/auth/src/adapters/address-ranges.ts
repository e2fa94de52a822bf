import ipaddr from 'ipaddr.js';
import type { AddressRanges } from '../core/ports';

/** An IPv6 customer is given at least this much, and could change address within it at will. */
const IPV6_SITE_BITS = 64;
const IPV4_MAPPED_BITS = 96;

/** Reads addresses and ranges with ipaddr.js. Strict: no octal, no short forms, no zones. */
export const ipaddrRanges: AddressRanges = {
  canonical(text) {
    const slash = text.indexOf('/');
    const address = parseAddress(slash === -1 ? text : text.slice(0, slash));
    if (!address) return undefined;
    const bitsOf = address.kind() === 'ipv4' ? 32 : 128;
    if (slash === -1) return unmapped(address, bitsOf);
    const prefixText = text.slice(slash + 1);
    if (!/^(0|[1-9]\d{0,2})$/.test(prefixText) || Number(prefixText) > bitsOf) return undefined;
    return unmapped(address, Number(prefixText));
  },

  countedAs(text) {
    const address = parseAddress(text);
    if (!address) return 'unknown';
    const folded = unmap(address);
    if (folded.kind() === 'ipv4') return folded.toString();
    return rangeText(folded, IPV6_SITE_BITS);
  },
};

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text);
  return undefined;
}

function unmap(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** `::ffff:192.0.2.0/120` is the IPv4 range 192.0.2.0/24 by another name. */
function unmapped(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string {
  const folded = unmap(address);
  if (folded === address) return rangeText(address, prefix);
  return prefix >= IPV4_MAPPED_BITS
    ? rangeText(folded, prefix - IPV4_MAPPED_BITS)
    : rangeText(address, prefix);
}

/** The range with its host bits cleared; a range of one is written as its address. */
function rangeText(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string {
  const bytes = address.toByteArray();
  if (prefix === bytes.length * 8) return address.toString();
  const network = bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return `${ipaddr.fromByteArray(network).toString()}/${prefix}`;
}
