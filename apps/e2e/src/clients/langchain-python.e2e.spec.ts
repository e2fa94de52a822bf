import { startPythonClient } from '../testing/client-process';
import { describeClient, type Reaction } from '../testing/client-suite';
import { pythonWith } from '../testing/python';

const python = pythonWith('langchain_openai');
/** LangChain's own class, if there is one, is caught as the openai SDK's too. */
const failure = (name: string, openaiName: string) => ({
  class: name,
  bases: expect.arrayContaining([openaiName]),
});
const once = (name: string, openaiName = name): Reaction => ({
  calls: 1,
  failure: failure(name, openaiName),
});
const thrice = (waits: Reaction['waits'], name: string, openaiName = name): Reaction => ({
  calls: 3,
  waits,
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
    idempotency_key_in_flight: thrice('as told', 'ConflictError'),
    idempotency_key_reused: once('UnprocessableEntityError'),
    rpm_exceeded: thrice('as told', 'OpenAIRateLimitError', 'RateLimitError'),
    tpm_exceeded: thrice('as told', 'OpenAIRateLimitError', 'RateLimitError'),
    concurrency: thrice('as told', 'OpenAIRateLimitError', 'RateLimitError'),
    daily_budget_exceeded: once('OpenAIRateLimitError', 'RateLimitError'),
    upstream_config_error: once('OpenAIAPIError', 'InternalServerError'),
    upstream_error: thrice('own backoff', 'OpenAIAPIError', 'InternalServerError'),
    no_capacity: thrice('as told', 'OpenAIAPIError', 'InternalServerError'),
  },
  brokenStream: {
    failure: { class: 'APIError', status: undefined, code: 'upstream_error', type: 'api_error' },
  },
  more(it, work) {
    it('has the limit that it sends as max_completion_tokens kept', async () => {
      let sent = '';
      const { value, calls } = await work.run('complete', {}, async ({ body }) => void (sent = body));
      expect(JSON.parse(sent)).toMatchObject({ max_completion_tokens: 200 });
      expect(value).toEqual(expect.any(String));
      expect(calls).toHaveLength(1);
    });
  },
});
