import { listSetting } from '@gateway/runtime';
import { isEncryptionKey } from './encryption-key';

/** The current key first, then older keys that still decrypt. */
const encryptionKeys = listSetting.refine((keys) => keys.length > 0 && keys.every(isEncryptionKey), {
  error: 'must be 32 random bytes as base64, or several of these separated by commas',
});

/** The setting of every app that stores encrypted secrets. */
export const secretsEnvironment = {
  GATEWAY_SECRETS_KEY: encryptionKeys
    .optional()
    .describe(
      'Key that encrypts stored secrets: 32 random bytes as base64 (`openssl rand -base64 32`), or several separated by commas: the first encrypts, all decrypt. Without it auth accepts no second factors and no webhook for operators, billing-ledger accepts no webhook of an organization; inference-router requires it with `GATEWAY_CATALOGUE=database`, and cannot store prompts and responses without it; the embedded gateway creates one.',
    ),
};
