import { noHeader } from '../../../testing/assemble';
import { anthropic } from '.';

function classify(body: unknown, status?: number): unknown {
  return anthropic.kindOfError(anthropic.readError(body, noHeader), status, 'claude-x');
}

const errorBody = (type: string, message = 'x', code?: string) => ({
  type: 'error',
  error: { type, message, ...(code === undefined ? {} : { details: { error_code: code } }) },
  request_id: 'req_1',
});

it.each([
  [400, 'invalid_request_error', 'rejected'],
  [401, 'authentication_error', 'misconfigured'],
  [402, 'billing_error', 'misconfigured'],
  [403, 'permission_error', 'misconfigured'],
  [404, 'not_found_error', 'misconfigured'],
  [409, 'conflict_error', 'failed'],
  [413, 'request_too_large', 'rejected'],
  [429, 'rate_limit_error', 'throttled'],
  [500, 'api_error', 'failed'],
  [503, 'api_error', 'unavailable'],
  [504, 'timeout_error', 'timed_out'],
  [529, 'overloaded_error', 'unavailable'],
  // Also used for statuses without a type of their own.
  [405, 'invalid_request_error', 'misconfigured'],
  [418, 'a_future_error', 'misconfigured'],
  [599, 'a_future_error', 'failed'],
])('status %d with %s is %s', (status, type, kind) => {
  expect(classify(errorBody(type), status)).toBe(kind);
});

it.each([
  ['overloaded_error', 'unavailable'],
  ['rate_limit_error', 'throttled'],
  ['invalid_request_error', 'rejected'],
  ['timeout_error', 'timed_out'],
  ['api_error', 'failed'],
  ['a_future_error', 'failed'],
])('%s inside a stream is %s', (type, kind) => {
  expect(classify(errorBody(type))).toBe(kind);
});

it.each([
  'prompt is too long: 208310 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
])('recognizes a context overflow: %s', (message) => {
  expect(classify(errorBody('invalid_request_error', message), 400)).toBe('context_too_long');
});

it.each([
  [400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'],
  [400, 'invalid_request_error', 'You have reached your specified API usage limits.'],
  [400, 'invalid_request_error', 'This organization has been disabled.'],
  [400, 'invalid_request_error', 'anthropic-version: header is required'],
  [400, 'invalid_request_error', 'This model does not support the effort parameter.'],
  [400, 'invalid_request_error', '"thinking.type.enabled" is not supported for this model.'],
  [429, 'rate_limit_error', 'Extra usage is required for long context requests.'],
])(
  "reports faults of the operator's account and configuration as such: %d %s %s",
  (status, type, message) => {
    expect(classify(errorBody(type, message), status)).toBe('misconfigured');
  },
);

it.each([
  [429, 'rate_limit_error', 'enforced_spend_limit_reached', 'misconfigured'],
  [429, 'rate_limit_error', 'contract_spend_limit_reached', 'misconfigured'],
  [429, 'rate_limit_error', 'ramp_limit_exceeded', 'throttled'],
  [400, 'invalid_request_error', 'organization_on_hold', 'misconfigured'],
  [400, 'invalid_request_error', 'cmek_key_disabled', 'misconfigured'],
  [503, 'api_error', 'cmek_key_unreachable', 'unavailable'],
  [400, 'invalid_request_error', 'image_dimensions_too_large', 'rejected'],
])('%d %s with the code %s is %s', (status, type, code, kind) => {
  expect(classify(errorBody(type, 'x', code), status)).toBe(kind);
});

it.each([
  ['messages.1.content.0: Invalid `signature` in `thinking` block', 'messages'],
  ['max_tokens: 99999 > 64000, which is the maximum allowed', 'max_tokens'],
  ['stop_sequences: each stop sequence must contain non-whitespace', 'stop'],
  ['output_config.format.schema: unsupported keyword', 'response_format'],
  ['tools.0.custom.input_schema: JSON schema is invalid', 'tools'],
  ['`temperature` and `top_p` cannot both be specified for this model', 'temperature'],
  ['metadata.user_id: is not known', undefined],
  ['Something else: happened', undefined],
])("names the client's field of %s", (message, param) => {
  expect(anthropic.readError(errorBody('invalid_request_error', message), noHeader).param).toBe(param);
});

it('reads the errors of Vertex AI, with their wait', () => {
  const body = (code: number, status: string, details: object[] = []) => [
    { error: { code, status, message: 'Quota exceeded', details } },
  ];
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' };
  expect(anthropic.readError(body(429, 'RESOURCE_EXHAUSTED', [{}, info]), noHeader)).toEqual({
    message: 'Quota exceeded',
    code: '429',
    type: 'RESOURCE_EXHAUSTED',
    param: undefined,
    retryAfterMs: 1_500,
  });
  expect(classify(body(429, 'RESOURCE_EXHAUSTED'), 429)).toBe('throttled');
  expect(classify(body(503, 'UNAVAILABLE'))).toBe('unavailable');
  expect(classify(body(403, 'PERMISSION_DENIED'), 403)).toBe('misconfigured');
  expect(classify(body(404, 'NOT_FOUND'), 404)).toBe('misconfigured');
  expect(classify(body(400, 'INVALID_ARGUMENT'), 400)).toBe('rejected');
});

it('reads the errors of Bedrock', () => {
  const body = (type: string, message = 'x') => ({ __type: `com.amazon#${type}`, message });
  expect(classify(body('ThrottlingException'), 429)).toBe('throttled');
  expect(classify(body('ValidationException'), 400)).toBe('rejected');
  expect(classify(body('ValidationException', 'The provided model identifier is invalid.'), 400)).toBe(
    'misconfigured',
  );
  expect(classify({ Message: 'User is not authorized' }, 403)).toBe('misconfigured');
});

it.each([['text'], [null], [[]], [{}], [{ error: 'x' }]])('reads no fields from %j', (body) => {
  expect(anthropic.readError(body, noHeader)).toEqual({ message: '', code: '', type: '', param: undefined });
  expect(classify(body, 500)).toBe('failed');
});

it('finds errors in events and in responses with the status 200', () => {
  const body = errorBody('overloaded_error', 'Overloaded');
  const error = anthropic.readError(body, noHeader);
  expect(anthropic.createDecoder(1).decode(JSON.stringify(body))).toEqual({ choices: [], error });
  expect(anthropic.readResponse(body, 1)).toEqual({ choices: [], usage: undefined, error });
  expect(anthropic.kindOfError(error, undefined, 'claude-x')).toBe('unavailable');
});
