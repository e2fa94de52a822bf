import { startNodeClient } from '../support/client-process';
import { describeClient, type ClientUnderTest, type Reaction } from '../support/client-suite';

const once: Reaction = { calls: 1, failure: { class: 'AI_APICallError', wrapped: false } };
const thrice = (waits: Reaction['waits']): Reaction => ({
  calls: 3,
  waits,
  failure: { class: 'AI_APICallError', wrapped: true },
});

const reactions: ClientUnderTest['reactions'] = {
  context_length_exceeded: once,
  invalid_api_key: once,
  insufficient_credits: once,
  missing_scope: once,
  model_not_found: once,
  idempotency_key_in_flight: thrice('as told'),
  idempotency_key_reused: once,
  rpm_exceeded: thrice('as told'),
  tpm_exceeded: thrice('as told'),
  concurrency: thrice('as told'),
  // It ignores x-should-retry, and a retry-after of a minute or more.
  daily_budget_exceeded: thrice('own backoff'),
  upstream_config_error: thrice('own backoff'),
  upstream_error: thrice('own backoff'),
  no_capacity: thrice('as told'),
};

describeClient({
  name: 'the Vercel AI SDK with @ai-sdk/openai-compatible',
  start: () => startNodeClient('ai-sdk.mjs', { provider: 'openai-compatible' }),
  reactions,
  brokenStream: { failure: { code: 'upstream_error', type: 'api_error' } },
});

describeClient({
  name: 'the Vercel AI SDK with @ai-sdk/openai',
  start: () => startNodeClient('ai-sdk.mjs', { provider: 'openai' }),
  reactions,
  // It drops an error that stands beside choices: only the finish reason tells.
  brokenStream: { value: { text: expect.any(String), finishReason: 'other', rawFinishReason: 'error' } },
});
