import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@gateway/runtime';
import { readSecretsFrom } from '../node/secrets';
import { CatalogueError, catalogueNeedsEmulator, EMULATOR_VARIABLE, parseCatalogue } from './parse-catalogue';

/** A placeholder: the emulator has not been started yet. */
const EMULATOR_PLACEHOLDER = 'http://127.0.0.1:1/v1';

/**
 * Validates the models file before any service is started.
 *
 * @param environment has the provider keys that `api_key_env` names.
 * @throws ConfigError with all issues, each with its line.
 */
export function checkModelsFile(
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const resolved = path.resolve(file);
  try {
    parseCatalogue(readFileSync(resolved, 'utf8'), {
      version: 1,
      variables: { [EMULATOR_VARIABLE]: EMULATOR_PLACEHOLDER },
      secrets: readSecretsFrom(environment),
    });
  } catch (error) {
    throw new ConfigError(issuesOf(error, resolved));
  }
}

/** Whether a model of the file uses the model emulator. */
export function needsEmulator(file: string): boolean {
  return catalogueNeedsEmulator(readFileSync(path.resolve(file), 'utf8'));
}

function issuesOf(error: unknown, file: string): string[] {
  if (error instanceof CatalogueError) {
    return [
      ...error.issues.map((issue) => `${file}: ${issue}`),
      'The models.yaml that ships with the gateway documents every setting.',
    ];
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return [`GATEWAY_MODELS_FILE: ${file} cannot be read (${code})`];
}
