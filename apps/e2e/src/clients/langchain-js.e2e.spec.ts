import { startNodeClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';

const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
/** Six retries, each after about twice the wait of the one before. */
const sevenTimes = (name: string, waits: Reaction['waits']): Reaction => ({
  calls: 7,
  waits,
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
    // It does not retry a conflict, which the others do.
    idempotency_key_in_flight: once('ConflictError'),
    // It retries this, which cannot help.
    idempotency_key_reused: sevenTimes('UnprocessableEntityError', 'own backoff'),
    rpm_exceeded: sevenTimes('RateLimitError', 'as told'),
    tpm_exceeded: sevenTimes('RateLimitError', 'as told'),
    concurrency: sevenTimes('RateLimitError', 'as told'),
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
