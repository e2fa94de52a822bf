import { flagSetting, listSetting } from '@gateway/runtime';
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
  GATEWAY_CLOUD_IDENTITY_HOSTS: listSetting
    .default([])
    .describe(
      'Hosts, separated by commas, that a catalogue in the database may send the cloud identity of inference-router to (`credential: google`, `entra` or `sigv4`), in addition to the hosts of its cloud. With a port unless it is 443. A models file may name any host.',
    ),
  GATEWAY_CONTENT_LOG_MAX_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(365)
    .default(30)
    .describe(
      'Days for which prompts and responses are stored at most, where the owners of an organization turn the content log on; it is off by default, and needs `GATEWAY_SECRETS_KEY`. A lower maximum deletes what is older within an hour.',
    ),
  GATEWAY_CONTENT_LOG_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(1024 * 1024)
    .default(256 * 1024)
    .describe(
      'Maximum size of a stored prompt, and of a stored response, without images. Longer ones are cut, and marked as cut.',
    ),
  GATEWAY_LOG_PROVIDER_ERROR_TEXTS: flagSetting
    .default(false)
    .describe(
      "Whether the log, and failed attempts of generations for operators, have the text of a provider's error, without secrets. Providers quote input in such texts, so prompts may be in the log and in the database. Without it they have the status, code and type of the error.",
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
