import { secretsEnvironment } from '@gateway/secrets';
import { z } from 'zod';

/** Settings of every app that runs this module. */
export const inferenceRouterEnvironment = {
  ...secretsEnvironment,
  GATEWAY_CATALOGUE: z
    .enum(['file', 'database'])
    .default('file')
    .describe(
      'Source of providers, models and prices. `file`: the models file; the dashboard shows it read-only. `database`: operators publish versions on the dashboard; the first router imports the models file, if there is one, as version 1.',
    ),
  GATEWAY_MODELS_FILE: z
    .string()
    .default('models.yaml')
    .describe(
      'Path of the models file: providers, models and prices. A changed file is loaded within seconds.',
    ),
  MODEL_EMULATOR_URL: z
    .url({ protocol: /^http$/, error: 'must be an http:// URL' })
    .optional()
    .describe(
      'URL of a running model emulator; replaces `${MODEL_EMULATOR_URL}` in the models file. Without it the embedded gateway starts an emulator when a model needs one.',
    ),
};

export type InferenceRouterEnvironment = z.output<z.ZodObject<typeof inferenceRouterEnvironment>>;

/** Secrets of a catalogue in the database are stored encrypted. */
export function requireSecretsKey(
  { GATEWAY_CATALOGUE: source, GATEWAY_SECRETS_KEY: keys }: InferenceRouterEnvironment,
  context: z.RefinementCtx,
): void {
  if (source === 'file' || keys !== undefined) return;
  const message = 'is required with GATEWAY_CATALOGUE=database';
  context.addIssue({ code: 'custom', path: ['GATEWAY_SECRETS_KEY'], message });
}
