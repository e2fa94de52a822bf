import { EMULATOR_VARIABLE, parseCatalogue } from '@gateway/inference-router';

/** Reads a models file with the gateway's own loader. Providers are not called, so their keys need not exist. */
export function readCatalogue(text: string) {
  return parseCatalogue(text, {
    version: 1,
    variables: { [EMULATOR_VARIABLE]: 'http://127.0.0.1:1/v1' },
    secrets: { fromEnvironment: () => 'unused', fromFile: () => 'unused' },
  });
}
