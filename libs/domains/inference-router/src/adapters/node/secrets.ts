import { readFileSync } from 'node:fs';
import type { Secrets } from '../yaml/parse-catalogue';

/** Keys of providers from environment variables and mounted files; a file that cannot be read holds none. */
export function readSecretsFrom(environment: Readonly<Record<string, string | undefined>>): Secrets {
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
