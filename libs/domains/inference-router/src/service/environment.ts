import { z } from 'zod';

/** Settings of each app that runs this module. */
export const inferenceRouterEnvironment = {
  /** Providers, models and prices; read again when it changes. */
  GATEWAY_MODELS_FILE: z.string().default('models.yaml'),
  /** What `${MODEL_EMULATOR_URL}` stands for in the models file. */
  MODEL_EMULATOR_URL: z.url({ protocol: /^http$/, error: 'must be an http:// URL' }).optional(),
};

export type InferenceRouterEnvironment = z.output<z.ZodObject<typeof inferenceRouterEnvironment>>;
