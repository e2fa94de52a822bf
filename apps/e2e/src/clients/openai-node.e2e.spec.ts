import { startNodeClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';

const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
const thrice = (name: string, retryDelays: Reaction['retryDelays']): Reaction => ({
  calls: 3,
  retryDelays,
  failure: { class: name },
});

describeClient({
  name: 'the official openai Node SDK',
  start: () => startNodeClient('openai.mjs'),
  reactions: {
    context_length_exceeded: once('BadRequestError'),
    invalid_api_key: once('AuthenticationError'),
    // 402 has no class of its own: programs check the status or the code.
    insufficient_credits: once('APIError'),
    missing_scope: once('PermissionDeniedError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('ConflictError', 'retry-after'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('RateLimitError', 'retry-after'),
    tpm_exceeded: thrice('RateLimitError', 'retry-after'),
    concurrency: thrice('RateLimitError', 'retry-after'),
    // Without x-should-retry it would sleep until midnight.
    daily_budget_exceeded: once('RateLimitError'),
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('InternalServerError', 'own backoff'),
    no_capacity: thrice('InternalServerError', 'retry-after'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
  ownTests(it, client) {
    it('sends no header for its option idempotencyKey, so only an explicit header prevents a second charge', async () => {
      const { calls } = await client.run('completeWithKeyOption');
      expect(calls[0]?.requestHeaders).not.toHaveProperty('idempotency-key');
    });
  },
});
