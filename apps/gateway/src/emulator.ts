import { needsEmulator } from '@gateway/inference-router';
import { startModelEmulator } from '@gateway/model-emulator';
import type { Config } from './config';

/** The demo provider: its address, and how to end it when we started it. */
export interface DemoProvider {
  /** Undefined when no model needs it. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

/** Tokens per second of its answers, so that a stream is seen to stream. */
const DEMO_TOKENS_PER_SECOND = 60;

/** Starts the model emulator when a model uses it and none was named. */
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
