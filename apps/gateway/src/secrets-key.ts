import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isEncryptionKey, createEncryptionKey } from '@gateway/people';
import { ConfigError } from '@gateway/runtime';

/**
 * The key by which secrets are sealed, where none is configured: made once, and
 * kept in the state folder for its owner alone.
 *
 * @throws ConfigError when what is there is no key: another one could not open what this one has sealed.
 */
export function ensureSecretsKey(stateDirectory: string): string {
  const file = path.join(stateDirectory, 'secrets-key');
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `${createEncryptionKey()}\n`, { mode: 0o600 });
    // Whole or not there: a crash leaves no half of it.
    renameSync(draft, file);
  }
  const key = readFileSync(file, 'utf8').trim();
  if (isEncryptionKey(key)) return key;
  throw new ConfigError([`GATEWAY_STATE_DIR: ${file} holds no key as GATEWAY_SECRETS_KEY has it`]);
}
