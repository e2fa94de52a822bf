import { addressesIn, faultOfAddresses, isAddressOrRange } from './addresses';

it.each(['192.0.2.7', '10.0.0.0/8', '0.0.0.0/0', '2001:db8::1', '2001:db8::/32', '::ffff:192.0.2.7', '::'])(
  'takes %s',
  (text) => expect(isAddressOrRange(text)).toBe(true),
);

it.each([
  '192.0.2',
  '192.0.2.256',
  '010.0.0.1',
  '10.0.0.0/33',
  '2001:db8::/129',
  '10.0.0.0/8/8',
  'example.com',
  '::g',
  '1:2',
])('refuses %s', (text) => expect(isAddressOrRange(text)).toBe(false));

it('names the first part that is wrong, however the parts are separated', () => {
  expect(addressesIn(' 10.0.0.1,\n10.0.0.2;10.0.0.3 ')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  expect(faultOfAddresses('10.0.0.1\nnonsense')).toContain('“nonsense”');
  expect(faultOfAddresses('')).toBeUndefined();
});
