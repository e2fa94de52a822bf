import { startPythonClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';
import { pythonWith } from '../testing/python';

const python = pythonWith('openai');
const once = (name: string): Reaction => ({ calls: 1, failure: { class: name } });
const thrice = (name: string, waits: Reaction['waits']): Reaction => ({
  calls: 3,
  waits,
  failure: { class: name },
});

describeClient({
  name: 'the official openai Python SDK',
  it: python.it,
  start: () => startPythonClient(python.executable(), 'openai_client.py'),
  reactions: {
    context_length_exceeded: once('BadRequestError'),
    invalid_api_key: once('AuthenticationError'),
    // No class of its own: programs look at the status or the code.
    insufficient_credits: once('APIStatusError'),
    missing_scope: once('PermissionDeniedError'),
    model_not_found: once('NotFoundError'),
    idempotency_key_in_flight: thrice('ConflictError', 'as told'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('RateLimitError', 'as told'),
    tpm_exceeded: thrice('RateLimitError', 'as told'),
    concurrency: thrice('RateLimitError', 'as told'),
    daily_budget_exceeded: once('RateLimitError'),
    upstream_config_error: once('InternalServerError'),
    upstream_error: thrice('InternalServerError', 'own backoff'),
    no_capacity: thrice('InternalServerError', 'as told'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
});
