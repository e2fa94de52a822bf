import { isEncryptionKey } from './encryption-key';
import { createSecretCipher, createEncryptionKey } from './secret-cipher';

const [first, second] = [createEncryptionKey(), createEncryptionKey()];
const cipher = createSecretCipher([first]);

describe('an encrypted secret', () => {
  it('is decrypted with its key and context', () => {
    const encrypted = cipher.encrypt('GEZDGNBVGY3TQOJQ', 'mem-1');
    expect(cipher.decrypt(encrypted, 'mem-1')).toBe('GEZDGNBVGY3TQOJQ');
    expect(encrypted).not.toContain('GEZDGNBVGY3TQOJQ');
    expect(encrypted.startsWith(cipher.currentPrefix)).toBe(true);
  });

  it('differs each time', () => {
    expect(cipher.encrypt('secret', 'mem-1')).not.toBe(cipher.encrypt('secret', 'mem-1'));
  });

  it('is not decrypted for another member, with another key, or when it was modified', () => {
    const encrypted = cipher.encrypt('secret', 'mem-1');
    expect(() => cipher.decrypt(encrypted, 'mem-2')).toThrow();
    expect(() => createSecretCipher([second]).decrypt(encrypted, 'mem-1')).toThrow(/which is not configured/);
    const [format, keyId, iv, text = ''] = encrypted.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let byte = 0; byte < bytes.length; byte += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(byte) ^ 1, byte);
      const forged = [format, keyId, iv, changed.toString('base64url')].join('.');
      expect(() => cipher.decrypt(forged, 'mem-1')).toThrow();
    }
    expect(() => cipher.decrypt([format, keyId, iv, text.slice(0, 8)].join('.'), 'mem-1')).toThrow();
  });

  it('is decrypted with any configured key, and encrypted with the first', () => {
    const rotated = createSecretCipher([second, first]);
    expect(rotated.decrypt(cipher.encrypt('secret', 'mem-1'), 'mem-1')).toBe('secret');
    const encrypted = rotated.encrypt('secret', 'mem-1');
    expect(createSecretCipher([second]).decrypt(encrypted, 'mem-1')).toBe('secret');
    expect(encrypted.startsWith(cipher.currentPrefix)).toBe(false);
  });

  it('is never plaintext', () => {
    for (const text of [
      'GEZDGNBVGY3TQOJQ',
      createEncryptionKey(),
      '',
      'enc0.a.b.c',
      '{"url":"https://a.example"}',
    ])
      expect(() => cipher.decrypt(text, 'mem-1')).toThrow('a secret is not encrypted');
  });

  it('requires a key of 256 bits', () => {
    expect(() => createSecretCipher([])).toThrow();
    expect(() => createSecretCipher(['c2hvcnQ='])).toThrow();
    expect([first, 'c2hvcnQ=', '', first.slice(1), ` ${first}`].map(isEncryptionKey)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
