import { flagSetting } from '@gateway/runtime';
import type { z } from 'zod';

/** Settings of every app that runs this module. */
export const statementsEnvironment = {
  /** Whether alerts of a low balance may be sent to private networks and by plain http. */
  GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: flagSetting.default(false),
};

export type StatementsEnvironment = z.output<z.ZodObject<typeof statementsEnvironment>>;

/** The settings of the adapters. */
export function statementsSettingsOf(values: StatementsEnvironment) {
  return { allowPrivateAddresses: values.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES };
}
