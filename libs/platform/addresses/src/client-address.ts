import type { IncomingMessage } from 'node:http';
import { parseAddress, type Address } from './address';
import { isWithin, parseRange } from './address-range';

/** Tells the address a request comes from, in canonical form; undefined when none can be read. */
export type ClientAddressReader = (request: IncomingMessage) => string | undefined;

/**
 * The socket's peer, unless that is a trusted proxy: then the rightmost hop of
 * X-Forwarded-For that is not one. Hops further left are whatever the caller
 * chose to write, so they are never believed.
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

/** The zone of a link-local peer ("%eth0") means something on this machine only. */
function parsePeer(remoteAddress: string | undefined): Address | undefined {
  return parseAddress(remoteAddress?.replace(/%.*$/, '') ?? '');
}

/** `1.2.3.4:5678` and `[::1]:80` carry a port; a bare IPv6 address has colons of its own. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(hop);
  if (bracketed?.[1]) return bracketed[1];
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}
