import { startPythonClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';
import { pythonWith } from '../testing/python';

const python = pythonWith('litellm');
/** `ownCode` is LiteLLM's `code`, which equals the envelope's only in a BadRequestError. */
const failure = (name: string, ownCode?: string) => ({ class: name, ownCode });
const once = (name: string, ownCode?: string): Reaction => ({ calls: 1, failure: failure(name, ownCode) });
const thrice = (name: string, retryDelays: Reaction['retryDelays'], ownCode?: string): Reaction => ({
  calls: 3,
  retryDelays,
  failure: failure(name, ownCode),
});
const throttled = failure('RateLimitError', '429');

describeClient({
  name: 'LiteLLM',
  it: python.it,
  start: () => startPythonClient(python.executable(), 'litellm_client.py'),
  reactions: {
    context_length_exceeded: once('ContextWindowExceededError'),
    invalid_api_key: once('AuthenticationError'),
    insufficient_credits: once('APIError'),
    // It has PermissionDeniedError, but does not use it for a 403 of the OpenAI protocol.
    missing_scope: once('APIError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('BadRequestError', 'retry-after', 'idempotency_key_in_flight'),
    idempotency_key_reused: once('BadRequestError', 'idempotency_key_reused'),
    rpm_exceeded: { calls: 3, retryDelays: 'retry-after', failure: throttled },
    tpm_exceeded: { calls: 3, retryDelays: 'retry-after', failure: throttled },
    concurrency: { calls: 3, retryDelays: 'retry-after', failure: throttled },
    daily_budget_exceeded: { calls: 1, failure: throttled },
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('BadGatewayError', 'own backoff'),
    no_capacity: thrice('ServiceUnavailableError', 'retry-after'),
  },
  brokenStream: {
    failure: { class: 'MidStreamFallbackError', status: 500, code: 'upstream_error', type: 'api_error' },
  },
});
