import { canonicalRange, isAddressRange } from './address-range';

describe('an address range', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7/32', '192.0.2.7'],
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['10.200.3.4/9', '10.128.0.0/9'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['2001:db8:1:2:3::/48', '2001:db8:1::/48'],
    ['::/0', '::/0'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalRange(text)).toBe(canonical);
    expect(canonicalRange(canonical)).toBe(canonical);
  });

  it.each([
    '',
    'localhost',
    '192.0.2',
    '192.0.2.256',
    '0300.0.2.1',
    '0xc0.0.2.1',
    '3221226002',
    '192.0.2.1/33',
    '192.0.2.1/',
    '192.0.2.1/-1',
    '192.0.2.1/08',
    '192.0.2.1/24/24',
    '192.0.2.1:80',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '2001:db8::/129',
    '2001:db8::1::2',
    ' 192.0.2.1',
    '192.0.2.1 192.0.2.2',
  ])('refuses %j', (text) => {
    expect(canonicalRange(text)).toBeUndefined();
    expect(isAddressRange(text)).toBe(false);
  });
});
