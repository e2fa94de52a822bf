import { createAddressMatcher } from './address-matcher';

it.each([
  ['127.0.0.1', ['127.0.0.1'], true],
  ['10.1.2.3', ['10.0.0.0/8'], true],
  ['11.1.2.3', ['10.0.0.0/8'], false],
  ['2001:db8::1', ['2001:0DB8:0000::/32'], true],
  ['::ffff:10.0.0.1', ['10.0.0.1'], true],
  ['10.0.0.1', ['::ffff:10.0.0.1'], true],
  ['10.0.0.1', ['nonsense', '10.0.0.1'], true],
  ['10.0.0.1', ['nonsense'], false],
  ['', ['0.0.0.0/0', '::/0'], false],
  ['010.0.0.1', ['10.0.0.1'], false],
])('%s on %j: %s', (address, allowlist, expected) => {
  expect(createAddressMatcher()(address, allowlist)).toBe(expected);
});
