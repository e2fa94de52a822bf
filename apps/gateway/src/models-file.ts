import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  CatalogueError,
  catalogueNeedsEmulator,
  EMULATOR_VARIABLE,
  parseCatalogue,
  readSecretsFrom,
  type Secrets,
} from '@gateway/inference-router';
import { ConfigError } from '@gateway/runtime';
import { type Config } from './config';

/** Stands for an emulator that is not started yet. */
const SOME_EMULATOR = 'http://127.0.0.1:1/v1';

export function modelsFileOf(config: Config): string {
  return path.resolve(config.GATEWAY_MODELS_FILE);
}

/** Where keys of providers come from. */
export function secretsOf(config: Config): Secrets {
  return readSecretsFrom(config.environment);
}

/**
 * Reads the models file as the gateway will, and forgets it again: its faults
 * are told before anything is started.
 *
 * @throws ConfigError with all faults, each with its line.
 */
export function checkModelsFile(config: Config): void {
  const file = modelsFileOf(config);
  try {
    parseCatalogue(readFileSync(file, 'utf8'), {
      version: 1,
      variables: { [EMULATOR_VARIABLE]: SOME_EMULATOR },
      secrets: secretsOf(config),
    });
  } catch (error) {
    throw new ConfigError(faultsOf(error, file));
  }
}

/** Whether the model emulator has to be there. */
export function needsEmulator(config: Config): boolean {
  return catalogueNeedsEmulator(readFileSync(modelsFileOf(config), 'utf8'));
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
