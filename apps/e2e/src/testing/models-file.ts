import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface ProviderTimeouts {
  readonly first_event_ms?: number;
  readonly first_byte_ms?: number;
  readonly idle_ms?: number;
  readonly total_ms?: number;
}

/** Writes a models file with one model, `test/model`, which the emulator serves. Returns its path. */
export function writeModelsFile(options: { timeouts?: ProviderTimeouts; emulated?: string } = {}): string {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'gateway-models-')), 'models.yaml');
  const { timeouts = {}, emulated = 'emu-long' } = options;
  writeFileSync(
    file,
    `providers:
  - name: emulator
    base_url: \${MODEL_EMULATOR_URL}
    max_attempts: 1
    timeouts: ${JSON.stringify(timeouts)}
models:
  - id: test/model
    targets: [{ provider: emulator, model: ${emulated} }]
    context_window: 1048576
    max_output_tokens: 131072
    capabilities: [tools, vision, json_mode, structured_outputs]
    prices: { input: '0.10', output: '0.40' }
`,
  );
  return file;
}
