import type { IncomingMessage } from 'node:http';
import { createClientAddressReader } from './client-address';

function from(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

it.each([
  // no trusted proxy: the header can be forged by any client
  [[], '203.0.113.9', '1.2.3.4', '203.0.113.9'],
  [['10.0.0.0/8'], '203.0.113.9', '1.2.3.4', '203.0.113.9'],
  // the rightmost untrusted hop, whatever is forged to its left
  [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
  [['10.0.0.0/8'], '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
  [['10.0.0.0/8'], '10.0.0.1', '10.0.0.2', '10.0.0.2'],
  [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
  [['fd00::/8'], 'fd00::1', '2001:DB8:0::1', '2001:db8::1'],
  [['10.0.0.1'], '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  [['10.0.0.1'], '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  // an invalid hop: no address, rather than a wrong one
  [['10.0.0.1'], '10.0.0.1', '1.1.1.1, unknown', undefined],
  [['10.0.0.1'], '10.0.0.1', '010.0.0.1', undefined],
  [['10.0.0.1'], '10.0.0.1', '', undefined],
  [[], undefined, undefined, undefined],
  [[], 'fe80::1%eth0', undefined, 'fe80::1'],
])('behind %j, the peer %s with X-Forwarded-For %s is %s', (trusted, peer, forwarded, expected) => {
  expect(createClientAddressReader(trusted)(from(peer, forwarded))).toBe(expected);
});

it('rejects a trusted proxy that is neither an address nor a range, and names it', () => {
  expect(() => createClientAddressReader(['10.0.0.0/8', 'nonsense'])).toThrow(/"nonsense"/);
});
