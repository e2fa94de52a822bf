import { type IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Tells the address a request comes from, in canonical form; undefined when none can be read. */
export type ClientAddressReader = (request: IncomingMessage) => string | undefined;

/**
 * The socket's peer, unless that is a trusted proxy: then the rightmost hop of
 * X-Forwarded-For that is not one. Hops further left are whatever the caller
 * chose to write, so they are never believed. IPv4 addresses inside IPv6
 * (`::ffff:a.b.c.d`) read as IPv4.
 *
 * @param trustedProxies addresses or CIDR ranges.
 * @throws Error when one of them is neither.
 */
export function createClientAddressReader(trustedProxies: readonly string[]): ClientAddressReader {
  const ranges = trustedProxies.map(parseRange);
  const isTrusted = (address: Address) => ranges.some((range) => isWithin(address, range));

  return (request) => {
    const peer = parseAddress(request.socket.remoteAddress);
    if (!peer) return undefined;
    const forwarded = request.headers['x-forwarded-for'];
    if (ranges.length === 0 || forwarded === undefined || !isTrusted(peer)) return peer.toString();

    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',').reverse();
    let nearest: Address | undefined = peer;
    for (const hop of hops) {
      nearest = parseAddress(withoutPort(hop.trim()));
      if (!nearest || !isTrusted(nearest)) break;
    }
    return nearest?.toString();
  };
}

/** Whether the text is an address or a CIDR range that createClientAddressReader takes. */
export function isAddressRange(text: string): boolean {
  try {
    parseRange(text);
    return true;
  } catch {
    return false;
  }
}

function parseAddress(text: string | undefined): Address | undefined {
  if (text === undefined || !ipaddr.isValid(text)) return undefined;
  // The zone of a link-local address ("%eth0") means something on one machine only.
  return ipaddr.process(text.replace(/%.*$/, ''));
}

function parseRange(text: string): [Address, number] {
  if (text.includes('/')) {
    const [network, bits] = ipaddr.parseCIDR(text);
    return [network, bits];
  }
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isWithin(address: Address, [network, bits]: [Address, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** `1.2.3.4:5678` and `[::1]:80` carry a port; a bare IPv6 address has colons of its own. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(hop);
  if (bracketed?.[1]) return bracketed[1];
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}

/**
 * Whom an address in canonical form stands for: an IPv4 address itself, an IPv6
 * address its /64, whose addresses are all one subscriber's to choose from.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`;
}

/** Whether an address is on a list of addresses and CIDR ranges. */
export type AddressMatcher = (address: string, allowlist: readonly string[]) => boolean;

/** Compares by value, in any spelling. Each list is read once; an entry that cannot be read allows nobody. */
export function createAddressMatcher(): AddressMatcher {
  const read = new WeakMap<readonly string[], [Address, number][]>();
  return (text, allowlist) => {
    const address = parseAddress(text);
    if (!address) return false;
    let ranges = read.get(allowlist);
    if (!ranges) {
      ranges = allowlist.filter(isAddressRange).map(parseRange);
      read.set(allowlist, ranges);
    }
    return ranges.some((range) => isWithin(address, range));
  };
}
