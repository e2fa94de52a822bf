import { startNodeClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';

const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
/** Six retries; each delay is about twice the one before. */
const sevenTimes = (name: string, retryDelays: Reaction['retryDelays']): Reaction => ({
  calls: 7,
  retryDelays,
  failure: { class: name },
});

describeClient({
  name: 'LangChain JS',
  start: () => startNodeClient('langchain.mjs'),
  reactions: {
    context_length_exceeded: once('ContextOverflowError'),
    invalid_api_key: once('AuthenticationError'),
    insufficient_credits: once('APIError'),
    missing_scope: once('PermissionDeniedError'),
    model_not_found: once('NotFoundError'),
    // Unlike the other clients, it does not retry a conflict.
    idempotency_key_in_flight: once('ConflictError'),
    // It retries this, although a retry cannot succeed.
    idempotency_key_reused: sevenTimes('UnprocessableEntityError', 'own backoff'),
    rpm_exceeded: sevenTimes('RateLimitError', 'retry-after'),
    tpm_exceeded: sevenTimes('RateLimitError', 'retry-after'),
    concurrency: sevenTimes('RateLimitError', 'retry-after'),
    daily_budget_exceeded: { calls: 1, failure: { class: 'RateLimitError', name: 'RateLimitCapacityError' } },
    // It ignores x-should-retry, and retry-after on anything but a 429.
    upstream_config_error: sevenTimes('InternalServerError', 'own backoff'),
    upstream_error: sevenTimes('InternalServerError', 'own backoff'),
    no_capacity: sevenTimes('InternalServerError', 'own backoff'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
});
