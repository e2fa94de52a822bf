import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@gateway/runtime';
import { readSecretsFrom } from '../node/secrets';
import { CatalogueError, catalogueNeedsEmulator, EMULATOR_VARIABLE, parseCatalogue } from './parse-catalogue';

/** Stands for an emulator that is not started yet. */
const SOME_EMULATOR = 'http://127.0.0.1:1/v1';

/**
 * Reads the models file as the catalogue will, and forgets it again: its faults
 * are told before anything is started.
 *
 * @param environment where keys of providers come from.
 * @throws ConfigError with all faults, each with its line.
 */
export function checkModelsFile(
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const resolved = path.resolve(file);
  try {
    parseCatalogue(readFileSync(resolved, 'utf8'), {
      version: 1,
      variables: { [EMULATOR_VARIABLE]: SOME_EMULATOR },
      secrets: readSecretsFrom(environment),
    });
  } catch (error) {
    throw new ConfigError(faultsOf(error, resolved));
  }
}

/** Whether a model of the file uses the model emulator. */
export function needsEmulator(file: string): boolean {
  return catalogueNeedsEmulator(readFileSync(path.resolve(file), 'utf8'));
}

function faultsOf(error: unknown, file: string): string[] {
  if (error instanceof CatalogueError) {
    return [
      ...error.faults.map((fault) => `${file}: ${fault}`),
      'The comments of the models.yaml that comes with the gateway explain every setting.',
    ];
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return [`GATEWAY_MODELS_FILE: ${file} cannot be read (${code})`];
}
