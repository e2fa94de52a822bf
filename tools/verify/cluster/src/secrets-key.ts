import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const BYTES = 32;

/** A key as GATEWAY_SECRETS_KEY has it: made once, and kept for the next start. */
export function ensureSecretsKey(stateDirectory: string): string {
  const file = path.join(stateDirectory, 'secrets-key');
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(BYTES).toString('base64')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}
