import { startPythonClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';
import { pythonWith } from '../testing/python';

const python = pythonWith('langchain_openai');
/** LangChain's own error classes extend those of the openai SDK. */
const failure = (name: string, openaiName: string) => ({
  class: name,
  bases: expect.arrayContaining([openaiName]),
});
const once = (name: string, openaiName = name): Reaction => ({
  calls: 1,
  failure: failure(name, openaiName),
});
const thrice = (retryDelays: Reaction['retryDelays'], name: string, openaiName = name): Reaction => ({
  calls: 3,
  retryDelays,
  failure: failure(name, openaiName),
});

describeClient({
  name: 'LangChain Python',
  it: python.it,
  start: () => startPythonClient(python.executable(), 'langchain_client.py'),
  reactions: {
    context_length_exceeded: once('OpenAIContextOverflowError', 'BadRequestError'),
    invalid_api_key: once('OpenAIAuthenticationError', 'AuthenticationError'),
    insufficient_credits: once('APIStatusError'),
    missing_scope: once('OpenAIPermissionDeniedError', 'PermissionDeniedError'),
    model_not_found: once('OpenAIModelNotFoundError', 'NotFoundError'),
    idempotency_key_in_flight: thrice('retry-after', 'ConflictError'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('retry-after', 'OpenAIRateLimitError', 'RateLimitError'),
    tpm_exceeded: thrice('retry-after', 'OpenAIRateLimitError', 'RateLimitError'),
    concurrency: thrice('retry-after', 'OpenAIRateLimitError', 'RateLimitError'),
    daily_budget_exceeded: once('OpenAIRateLimitError', 'RateLimitError'),
    upstream_config_error: once('OpenAIAPIError', 'InternalServerError'),
    upstream_error: thrice('own backoff', 'OpenAIAPIError', 'InternalServerError'),
    no_capacity: thrice('retry-after', 'OpenAIAPIError', 'InternalServerError'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
  ownTests(it, client) {
    it('sends its token limit as max_completion_tokens, which the gateway applies', async () => {
      let sent = '';
      const { value, calls } = await client.run('complete', {}, async ({ body }) => void (sent = body));
      expect(JSON.parse(sent)).toMatchObject({ max_completion_tokens: 200 });
      expect(value).toEqual(expect.any(String));
      expect(calls).toHaveLength(1);
    });
  },
});
