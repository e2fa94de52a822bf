import { flagSetting } from '@gateway/runtime';

/** Settings of every app that sends webhooks. */
export const webhookEnvironment = {
  GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: flagSetting
    .default(false)
    .describe(
      'Whether webhooks (low-balance alerts, operator notifications) may go to private addresses and plain http. Leave it off: anyone who may configure an alert could otherwise make the gateway call internal addresses.',
    ),
};
