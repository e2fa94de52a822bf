import { model, provider } from '../../testing/router-under-test';
import type { Target } from '../catalogue/model-catalogue';
import {
  REQUESTED_MODEL,
  invalidRequests,
  tooLong,
  unknownModel,
  type ErrorResponseFixture,
} from '../dialects/openai/error-responses.fixture';
import { readErrorObject } from '../dialects/openai/classify-error';
import type { ProviderError } from '../dialects/dialect';
import { classifyError, classifyErrorResponse } from './classify-response';

const requestedModel = model([provider('acme', 'http://10.0.0.1:8000/v1')]);
const target: Target = { ...(requestedModel.targets[0] as Target), providerModel: REQUESTED_MODEL };
const size = {
  bodyJson: Buffer.from('{"messages":[],"temperature":3}'),
  stream: true,
  estimatedInputTokens: 10,
  maxOutputTokens: 5,
};
const noHeader = () => undefined;
const classify = ({ status, body }: ErrorResponseFixture) =>
  classifyErrorResponse(status, JSON.stringify(body), noHeader, target, requestedModel, size);

describe.each(tooLong.map((fixture) => [fixture.server, fixture] as const))('%s', (_server, fixture) => {
  it('is recognized as a context length error', () => {
    expect(classify(fixture)).toMatchObject({
      kind: 'context_too_long',
      publicMessage: expect.stringMatching(/^This model's maximum context length is 8192 tokens\. However,/),
    });
  });

  it('is recognized as a context length error within a stream', () => {
    expect(
      classifyError(readErrorObject(fixture.body) as ProviderError, undefined, target, requestedModel, size),
    ).toMatchObject({
      kind: 'context_too_long',
    });
  });
});

it.each(unknownModel.map((fixture) => [fixture.server, fixture] as const))(
  'an unknown-model error of %s is a configuration error, whose text is not public',
  (_server, fixture) => {
    const failure = classify(fixture);
    expect(failure).toMatchObject({ kind: 'misconfigured', publicMessage: undefined });
    expect(failure.rule).toMatchObject({ code: 'upstream_config_error', tryNextTarget: true });
  },
);

it.each(invalidRequests.map((fixture) => [fixture.server, fixture] as const))(
  'an error %s is an error of the request',
  (_server, fixture) => {
    expect(classify(fixture)).toMatchObject({ kind: 'rejected' });
  },
);

it('an error in an array is read', () => {
  const body = [{ error: { code: 400, message: 'Please use a valid role.', status: 'INVALID_ARGUMENT' } }];
  expect(classify({ server: 'Gemini', status: 400, body })).toMatchObject({
    kind: 'rejected',
    publicMessage: 'Please use a valid role.',
  });
});

it.each([
  [
    429,
    { message: 'You exceeded your current quota.', type: 'insufficient_quota', code: 'insufficient_quota' },
  ],
  [undefined, { message: 'Billing hard limit has been reached', code: 'billing_hard_limit_reached' }],
])('an exhausted account (status %s) is a configuration error', (status, error) => {
  const read = readErrorObject({ error }) as ProviderError;
  const response = status === undefined ? undefined : { status, retryAfterMs: undefined };
  expect(classifyError(read, response, target, requestedModel, size)).toMatchObject({
    kind: 'misconfigured',
    publicMessage: undefined,
  });
});

it('the internal message has the status, code, type and URL, and no text of the provider', () => {
  const messageOf = (error: object) =>
    classifyErrorResponse(400, JSON.stringify({ error }), noHeader, target, requestedModel, size).message;
  const url = 'http://10.0.0.1:8000/v1/chat/completions';
  const text = 'the prompt was: buy Acme';
  expect(messageOf({ message: text, type: 'invalid_request_error', code: 'bad_value' })).toBe(
    `acme: HTTP 400 bad_value invalid_request_error from ${url}`,
  );
  expect(messageOf({ message: text, code: 'same', type: 'same' })).toBe(`acme: HTTP 400 same from ${url}`);
  for (const code of [text, 'x'.repeat(65), 'sk-provider-secret-1234567890', 'two\nlines', '…'])
    expect(messageOf({ message: text, code, type: code })).toBe(`acme: HTTP 400 from ${url}`);
});

it('with the setting the internal message has the original text, without keys', () => {
  const message = 'Bad rate limit at /srv/models/x for key sk-provider-secret-1234567890\nof acme';
  const body = JSON.stringify({ error: { message } });
  const failure = classifyErrorResponse(400, body, noHeader, target, requestedModel, size, true);
  expect(failure.message).toBe(
    'acme: HTTP 400 from http://10.0.0.1:8000/v1/chat/completions: Bad rate limit at /srv/models/x for key [removed] of acme',
  );
});

it.each([503, 529])('a %d is no_capacity after all targets failed', (status) => {
  const { rule } = classifyErrorResponse(status, '', noHeader, target, requestedModel, size);
  expect(rule).toMatchObject({ code: 'no_capacity', tryNextTarget: true, retrySameTarget: 'yes' });
});
