import type { IncomingMessage } from 'node:http';
import { parseAddress, type Address } from './address';
import { isWithin, parseRange } from './address-range';

/** Returns the client's address in canonical form; undefined when it cannot be determined. */
export type ClientAddressReader = (request: IncomingMessage) => string | undefined;

/**
 * The socket's peer or, when that is a trusted proxy, the rightmost untrusted hop
 * of X-Forwarded-For. Hops further left can be forged by the client and are
 * ignored.
 *
 * @param trustedProxies addresses or CIDR ranges.
 * @throws Error when one of them is neither.
 */
export function createClientAddressReader(trustedProxies: readonly string[]): ClientAddressReader {
  const ranges = trustedProxies.map((text) => {
    const range = parseRange(text);
    if (!range) throw new Error(`"${text}" is neither an address nor a CIDR range.`);
    return range;
  });
  const isTrusted = (address: Address) => ranges.some((range) => isWithin(address, range));

  return (request) => {
    const peer = parsePeer(request.socket.remoteAddress);
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

/** Removes the zone of a link-local peer ("%eth0"), which is local to this machine. */
function parsePeer(remoteAddress: string | undefined): Address | undefined {
  return parseAddress(remoteAddress?.replace(/%.*$/, '') ?? '');
}

/** `1.2.3.4:5678` and `[::1]:80` have a port; a bare IPv6 address has only its own colons. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(hop);
  if (bracketed?.[1]) return bracketed[1];
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}
