import type { ClientUnderTest, Reaction } from './client-suite';

const once: Reaction = { calls: 1, failure: { class: 'AI_APICallError', wrapped: false } };
const thrice = (retryDelays: Reaction['retryDelays']): Reaction => ({
  calls: 3,
  retryDelays,
  failure: { class: 'AI_APICallError', wrapped: true },
});

/** How the SDK reacts to each scenario, with any provider package. */
export const aiSdkReactions: ClientUnderTest['reactions'] = {
  context_length_exceeded: once,
  invalid_api_key: once,
  insufficient_credits: once,
  missing_scope: once,
  model_not_found: once,
  idempotency_key_in_flight: thrice('retry-after'),
  idempotency_key_reused: once,
  rpm_exceeded: thrice('retry-after'),
  tpm_exceeded: thrice('retry-after'),
  concurrency: thrice('retry-after'),
  // It ignores x-should-retry, and a retry-after of one minute or more.
  daily_budget_exceeded: thrice('own backoff'),
  upstream_config_error: thrice('own backoff'),
  upstream_error: thrice('own backoff'),
  no_capacity: thrice('retry-after'),
};
