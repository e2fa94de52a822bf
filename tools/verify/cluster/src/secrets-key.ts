import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const BYTES = 32;

/** A value for GATEWAY_SECRETS_KEY, generated at the first start and stored. */
export function ensureSecretsKey(stateDirectory: string): string {
  const file = path.join(stateDirectory, 'secrets-key');
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(BYTES).toString('base64')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}
