export { isEncryptionKey } from './encryption-key';
export { secretsEnvironment } from './environment';
export { decryptBytes, encryptBytes, ENCRYPTION_KEY_BYTES } from './encrypted-bytes';
export { createEncryptionKey, createSecretCipher } from './secret-cipher';
