export { isEncryptionKey } from './encryption-key';
export { secretsEnvironment } from './environment';
export { openBytes, sealBytes, SEALING_KEY_BYTES } from './sealed-bytes';
export { createEncryptionKey, createSecretCipher } from './secret-cipher';
