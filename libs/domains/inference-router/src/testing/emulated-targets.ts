import type { ModelEmulator } from '@gateway/model-emulator';
import type { Model, Provider } from '../core/catalogue/model-catalogue';
import type { TargetOptions } from '../core/dialects/dialect';
import type { DialectName } from '../core/dialects/registry';
import { model, provider, TARGET_OPTIONS } from './router-under-test';

export interface EmulatedTarget {
  /** A model of the emulator; default `emu-standard`. */
  readonly emulated?: string;
  readonly provider?: Partial<Provider>;
  readonly options?: Partial<TargetOptions>;
  readonly model?: Partial<Model>;
}

/** A model of the emulator that is called in this dialect. */
export function emulatedModel(
  emulator: ModelEmulator,
  dialect: DialectName,
  { emulated = 'emu-standard', provider: changes = {}, options = {}, model: more = {} }: EmulatedTarget = {},
): Model {
  const baseUrl = dialect === 'openai' ? emulator.url : new URL(emulator.url).origin;
  return model([], {
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    targets: [
      {
        provider: provider(dialect, baseUrl, { dialect, ...changes }),
        // Requests to Bedrock depend on the vendor in the model's name.
        providerModel: dialect === 'converse' ? `us.anthropic.${emulated}` : emulated,
        signer: `signer-${dialect}`,
        weight: 1,
        retryTimeouts: true,
        options: { ...TARGET_OPTIONS, ...options },
      },
    ],
    ...more,
  });
}
