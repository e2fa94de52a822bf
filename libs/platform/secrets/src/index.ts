export { isEncryptionKey } from './encryption-key';
export { secretsEnvironment } from './environment';
export { createEncryptionKey, createSecretCipher } from './secret-cipher';
