import { existsSync } from 'node:fs';
import { needsEmulator } from '@gateway/inference-router';
import { startModelEmulator } from '@gateway/model-emulator';
import type { Config } from './config';

/** The provider of the demo models. */
export interface DemoProvider {
  /** Undefined if no model uses it. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** Slow enough to see a stream arrive. */
const DEMO_TOKENS_PER_SECOND = 60;

/** Starts the model emulator if a model uses it and MODEL_EMULATOR_URL is not set. */
export async function startDemoProvider(config: Config): Promise<DemoProvider> {
  const nothing = { close: () => Promise.resolve() };
  const { GATEWAY_CATALOGUE: source, GATEWAY_MODELS_FILE: file } = config;
  // A catalogue in the database may have been imported from the file, and needs none.
  const hasFile = source === 'file' || existsSync(file);
  if (!hasFile || !needsEmulator(file)) return { url: undefined, ...nothing };
  if (config.MODEL_EMULATOR_URL !== undefined) return { url: config.MODEL_EMULATOR_URL, ...nothing };
  const emulator = await startModelEmulator({
    host: '127.0.0.1',
    port: 0,
    tokensPerSecond: DEMO_TOKENS_PER_SECOND,
  });
  return { url: emulator.url, close: () => emulator.close() };
}
