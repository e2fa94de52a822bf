import { z } from 'zod';

/** Settings of every app that runs this module. */
export const inferenceRouterEnvironment = {
  /** The file with providers, models and prices; reloaded when it changes. */
  GATEWAY_MODELS_FILE: z.string().default('models.yaml'),
  /** The value of `${MODEL_EMULATOR_URL}` in the models file. */
  MODEL_EMULATOR_URL: z.url({ protocol: /^http$/, error: 'must be an http:// URL' }).optional(),
};

export type InferenceRouterEnvironment = z.output<z.ZodObject<typeof inferenceRouterEnvironment>>;
