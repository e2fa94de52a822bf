import { flagSetting } from '@gateway/runtime';
import type { z } from 'zod';

/** Settings of every app that runs this module. */
export const statementsEnvironment = {
  GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: flagSetting
    .default(false)
    .describe(
      'Whether low-balance webhooks may go to private addresses and plain http. Leave it off: anyone who may configure an alert could otherwise make the gateway call internal addresses.',
    ),
};

export type StatementsEnvironment = z.output<z.ZodObject<typeof statementsEnvironment>>;

/** The settings of the adapters. */
export function statementsSettingsOf(values: StatementsEnvironment) {
  return { allowPrivateAddresses: values.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES };
}
