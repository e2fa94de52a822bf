import { startPythonClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';
import { pythonWith } from '../testing/python';

const python = pythonWith('openai');
const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
const thrice = (name: string, retryDelays: Reaction['retryDelays']): Reaction => ({
  calls: 3,
  retryDelays,
  failure: { class: name },
});

describeClient({
  name: 'the official openai Python SDK',
  it: python.it,
  start: () => startPythonClient(python.executable(), 'openai_client.py'),
  reactions: {
    context_length_exceeded: once('BadRequestError'),
    invalid_api_key: once('AuthenticationError'),
    // 402 has no class of its own: programs check the status or the code.
    insufficient_credits: once('APIStatusError'),
    missing_scope: once('PermissionDeniedError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('ConflictError', 'retry-after'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('RateLimitError', 'retry-after'),
    tpm_exceeded: thrice('RateLimitError', 'retry-after'),
    concurrency: thrice('RateLimitError', 'retry-after'),
    daily_budget_exceeded: once('RateLimitError'),
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('InternalServerError', 'own backoff'),
    no_capacity: thrice('InternalServerError', 'retry-after'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
});
