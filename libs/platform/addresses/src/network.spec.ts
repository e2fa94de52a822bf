import { networkOf, UNKNOWN_NETWORK } from './network';

it('maps an IPv6 address to its /64 and a mapped address to IPv4', () => {
  expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8::ffff:2'));
  expect(networkOf('2001:db8:0:1::1')).not.toBe(networkOf('2001:db8::1'));
  expect(networkOf('::ffff:192.0.2.7')).toBe('192.0.2.7');
});

it('maps all invalid addresses to one network', () => {
  expect(networkOf('')).toBe(UNKNOWN_NETWORK);
  expect(networkOf('fe80::1%eth0')).toBe(UNKNOWN_NETWORK);
});
