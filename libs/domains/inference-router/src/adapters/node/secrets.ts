import { readFileSync } from 'node:fs';
import type { ProcessSecrets } from '../yaml/secrets';

/** Reads provider keys from environment variables and mounted files. An unreadable file counts as missing. */
export function readSecretsFrom(environment: Readonly<Record<string, string | undefined>>): ProcessSecrets {
  return {
    fromEnvironment: (name) => environment[name],
    fromFile: (file) => {
      try {
        return readFileSync(file, 'utf8').trim();
      } catch {
        return undefined;
      }
    },
  };
}
