import { startPythonClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';
import { pythonWith } from '../testing/python';

const python = pythonWith('litellm');
/** Its own `code`, which is the envelope's in a BadRequestError only. */
const failure = (name: string, ownCode?: string) => ({ class: name, ownCode });
const once = (name: string, ownCode?: string): Reaction => ({ calls: 1, failure: failure(name, ownCode) });
const thrice = (name: string, waits: Reaction['waits'], ownCode?: string): Reaction => ({
  calls: 3,
  waits,
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
    // It has PermissionDeniedError, and does not use it for a 403 of this protocol.
    missing_scope: once('APIError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('BadRequestError', 'as told', 'idempotency_key_in_flight'),
    idempotency_key_reused: once('BadRequestError', 'idempotency_key_reused'),
    rpm_exceeded: { calls: 3, waits: 'as told', failure: throttled },
    tpm_exceeded: { calls: 3, waits: 'as told', failure: throttled },
    concurrency: { calls: 3, waits: 'as told', failure: throttled },
    daily_budget_exceeded: { calls: 1, failure: throttled },
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('BadGatewayError', 'own backoff'),
    no_capacity: thrice('ServiceUnavailableError', 'as told'),
  },
  brokenStream: {
    failure: { class: 'MidStreamFallbackError', status: 500, code: 'upstream_error', type: 'api_error' },
  },
});
