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
  if (!needsEmulator(config.GATEWAY_MODELS_FILE)) return { url: undefined, ...nothing };
  if (config.MODEL_EMULATOR_URL !== undefined) return { url: config.MODEL_EMULATOR_URL, ...nothing };
  const emulator = await startModelEmulator({
    host: '127.0.0.1',
    port: 0,
    tokensPerSecond: DEMO_TOKENS_PER_SECOND,
  });
  return { url: emulator.url, close: () => emulator.close() };
}
