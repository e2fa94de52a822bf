import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';

export interface ProviderTimeouts {
  readonly first_event_ms: number;
  readonly first_byte_ms: number;
  readonly idle_ms: number;
  readonly total_ms: number;
}

/**
 * Writes a models file with two models that the emulator serves: `test/patient` with the usual timeouts of a provider,
 * and `test/impatient` with these. Returns its path.
 *
 * @param patient more fields of the provider of `test/patient`
 */
export function writeModelsFile(timeouts: ProviderTimeouts, patient: object = {}): string {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'gateway-models-')), 'models.yaml');
  const provider = (name: string, more: object) => ({
    ...{ name, base_url: '${MODEL_EMULATOR_URL}', max_attempts: 1 },
    ...more,
  });
  writeFileSync(
    file,
    stringify({
      providers: [provider('patient', patient), provider('impatient', { timeouts })],
      models: ['patient', 'impatient'].map((name) => ({
        id: `test/${name}`,
        targets: [{ provider: name, model: 'emu-long' }],
        context_window: 1_048_576,
        max_output_tokens: 131_072,
        prices: { input: '0.10', output: '0.40' },
      })),
    }),
  );
  return file;
}
