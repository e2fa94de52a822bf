import { z } from 'zod';

/** Settings of every app that runs this module. */
export const inferenceRouterEnvironment = {
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
