import { parseAllowlist, allowlistError, isAddressOrRange } from './ip-allowlist';

it.each(['192.0.2.7', '10.0.0.0/8', '0.0.0.0/0', '2001:db8::1', '2001:db8::/32', '::ffff:192.0.2.7', '::'])(
  'accepts %s',
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
])('rejects %s', (text) => expect(isAddressOrRange(text)).toBe(false));

it('splits by any separator and names the first invalid entry', () => {
  expect(parseAllowlist(' 10.0.0.1,\n10.0.0.2;10.0.0.3 ')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  expect(allowlistError('10.0.0.1\nnonsense')).toContain('“nonsense”');
  expect(allowlistError('')).toBeUndefined();
});
