import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@gateway/runtime';
import { createEncryptionKey, isEncryptionKey } from '@gateway/secrets';

/**
 * The encryption key of secrets when none is configured: generated once and stored in the
 * state folder, readable only by its owner.
 *
 * @throws ConfigError if the file is invalid, since a new key could not decrypt existing secrets
 */
export function ensureSecretsKey(stateDirectory: string): string {
  const file = path.join(stateDirectory, 'secrets-key');
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `${createEncryptionKey()}\n`, { mode: 0o600 });
    // Atomic, so that a crash cannot leave an incomplete file.
    renameSync(draft, file);
  }
  const key = readFileSync(file, 'utf8').trim();
  if (isEncryptionKey(key)) return key;
  throw new ConfigError([
    `GATEWAY_STATE_DIR: ${file} does not contain a valid key (see GATEWAY_SECRETS_KEY)`,
  ]);
}
