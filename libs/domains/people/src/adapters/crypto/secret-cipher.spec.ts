import { isEncryptionKey } from '../../core/sign-in/sealing-key';
import { createSecretCipher, createEncryptionKey } from './secret-cipher';

const [first, second] = [createEncryptionKey(), createEncryptionKey()];
const cipher = createSecretCipher([first]);

describe('a sealed secret', () => {
  it('opens with its key and for what it is of', () => {
    const sealed = cipher.seal('GEZDGNBVGY3TQOJQ', 'mem-1');
    expect(cipher.open(sealed, 'mem-1')).toBe('GEZDGNBVGY3TQOJQ');
    expect(sealed).not.toContain('GEZDGNBVGY3TQOJQ');
    expect(sealed.startsWith(cipher.currentPrefix)).toBe(true);
  });

  it('never looks the same twice', () => {
    expect(cipher.seal('secret', 'mem-1')).not.toBe(cipher.seal('secret', 'mem-1'));
  });

  it('does not open for another member, nor with another key, nor when a bit of it is changed', () => {
    const sealed = cipher.seal('secret', 'mem-1');
    expect(() => cipher.open(sealed, 'mem-2')).toThrow();
    expect(() => createSecretCipher([second]).open(sealed, 'mem-1')).toThrow(/which is not configured/);
    const [form, name, iv, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let byte = 0; byte < bytes.length; byte += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(byte) ^ 1, byte);
      const forged = [form, name, iv, changed.toString('base64url')].join('.');
      expect(() => cipher.open(forged, 'mem-1')).toThrow();
    }
    expect(() => cipher.open([form, name, iv, text.slice(0, 8)].join('.'), 'mem-1')).toThrow();
  });

  it('opens with the keys of before, and is sealed with the first', () => {
    const changing = createSecretCipher([second, first]);
    expect(changing.open(cipher.seal('secret', 'mem-1'), 'mem-1')).toBe('secret');
    const sealed = changing.seal('secret', 'mem-1');
    expect(createSecretCipher([second]).open(sealed, 'mem-1')).toBe('secret');
    expect(sealed.startsWith(cipher.currentPrefix)).toBe(false);
  });

  it('was plain before there were keys', () => {
    expect(cipher.open('GEZDGNBVGY3TQOJQ', 'mem-1')).toBe('GEZDGNBVGY3TQOJQ');
  });

  it('needs a key of 256 bits', () => {
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
