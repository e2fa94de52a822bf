import type { UnixMs } from '@gateway/base';
import { otpauthTotp } from './totp';

/** "12345678901234567890", the secret of RFC 6238's test vectors. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

// Appendix B, SHA-1; the last six of its eight digits.
it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %i s accepts the code of RFC 6238, %s, within one period, and no other', (seconds, code) => {
  const step = Math.floor(seconds / 30);
  const at = (time: number) => otpauthTotp.stepOf(SECRET, code, (time * 1000) as UnixMs);
  expect(at(seconds)).toBe(step);
  expect(at((step + 1) * 30)).toBe(step);
  expect(at((step - 1) * 30)).toBe(step);
  expect(at((step + 2) * 30)).toBeUndefined();
  expect(at((step - 2) * 30 + 29)).toBeUndefined();
});

it('accepts only six digits', () => {
  for (const code of ['', '28708', '2870822', '28708x', '２８７０８２']) {
    expect(otpauthTotp.stepOf(SECRET, code, 59_000 as UnixMs)).toBeUndefined();
  }
});

it('generates secrets of 160 bits, and the URI for the QR code', () => {
  const secret = otpauthTotp.generateSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(otpauthTotp.generateSecret()).not.toBe(secret);
  const uri = new URL(otpauthTotp.uri(secret, 'a+b@example.com'));
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp']);
  expect(decodeURIComponent(uri.pathname)).toBe('/Inference Gateway:a+b@example.com');
  expect(uri.searchParams.get('secret')).toBe(secret);
});
