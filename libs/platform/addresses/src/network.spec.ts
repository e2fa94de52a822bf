import { networkOf, UNKNOWN_NETWORK } from './network';

it('counts an IPv6 subscriber as one, and a mapped address as its IPv4 one', () => {
  expect(networkOf('2001:db8::1')).toBe(networkOf('2001:db8::ffff:2'));
  expect(networkOf('2001:db8:0:1::1')).not.toBe(networkOf('2001:db8::1'));
  expect(networkOf('::ffff:192.0.2.7')).toBe('192.0.2.7');
});

it('counts everybody without a readable address as one', () => {
  expect(networkOf('')).toBe(UNKNOWN_NETWORK);
  expect(networkOf('fe80::1%eth0')).toBe(UNKNOWN_NETWORK);
});
