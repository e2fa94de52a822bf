import { startNodeClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';

const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
const thrice = (name: string, waits: Reaction['waits']): Reaction => ({
  calls: 3,
  waits,
  failure: { class: name },
});

describeClient({
  name: 'the official openai Node SDK',
  start: () => startNodeClient('openai.mjs'),
  reactions: {
    context_length_exceeded: once('BadRequestError'),
    invalid_api_key: once('AuthenticationError'),
    // No class of its own: programs look at the status or the code.
    insufficient_credits: once('APIError'),
    missing_scope: once('PermissionDeniedError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('ConflictError', 'as told'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('RateLimitError', 'as told'),
    tpm_exceeded: thrice('RateLimitError', 'as told'),
    concurrency: thrice('RateLimitError', 'as told'),
    // Without x-should-retry it would sleep until midnight.
    daily_budget_exceeded: once('RateLimitError'),
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('InternalServerError', 'own backoff'),
    no_capacity: thrice('InternalServerError', 'as told'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
  more(it, work) {
    it('sends no header for its option idempotencyKey, so that only an explicit header protects', async () => {
      const { calls } = await work.run('completeWithKeyOption');
      expect(calls[0]?.requestHeaders).not.toHaveProperty('idempotency-key');
    });
  },
});
