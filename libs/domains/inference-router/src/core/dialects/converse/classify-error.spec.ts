import { noHeader } from '../../../testing/assemble';
import { errorIn, kindOfError, readError } from './classify-error';

const providerModel = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

function classify(status: number, type: string | undefined, message: string): string {
  const error = readError({ message }, (name) => (name === 'x-amzn-errortype' ? type : undefined));
  expect(error.message).toBe(message);
  return kindOfError(error, status, providerModel);
}

describe('an error of Bedrock', () => {
  it.each([
    ['a body with a type', { __type: 'ThrottlingException', message: 'Slow down' }, 'ThrottlingException'],
    [
      'a namespace',
      { __type: 'com.amazon.coral.service#AccessDeniedException', Message: 'No' },
      'AccessDeniedException',
    ],
    [
      'an address after the type',
      { __type: 'ValidationException:http://internal/', message: 'x' },
      'ValidationException',
    ],
    ['an event', { modelStreamErrorException: { message: 'x' } }, 'modelStreamErrorException'],
  ])('is read from %s', (_case, body, type) => {
    expect(readError(body, noHeader)).toMatchObject({ type });
    expect(errorIn(body)).toMatchObject({ type });
  });

  it.each([undefined, null, 'text', {}])('without a readable body has no fields: %j', (body) => {
    expect(readError(body, noHeader)).toEqual({ message: '', code: '', type: '', param: undefined });
  });

  it('has the type of its header, also without a readable body', () => {
    const header = (name: string) =>
      name === 'x-amzn-errortype' ? 'ThrottlingException:http://x/' : undefined;
    expect(readError({ message: 'Slow down' }, header)).toMatchObject({
      type: 'ThrottlingException',
      message: 'Slow down',
    });
    expect(readError(undefined, header)).toMatchObject({ type: 'ThrottlingException', message: '' });
  });

  it.each([
    {},
    {
      output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
      stopReason: 'end_turn',
      usage: {},
    },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'throttlingException' } } },
    { messageStop: { stopReason: 'end_turn' } },
    { metadata: { usage: {} } },
  ])('is not found in %j', (body) => {
    expect(errorIn(body)).toBeUndefined();
  });

  it.each<[number, string, string, string]>([
    [429, 'ThrottlingException', 'Too many requests, please wait before trying again.', 'throttled'],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', 'throttled'],
    [429, 'ModelNotReadyException', 'The model is not ready.', 'unavailable'],
    [503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.', 'unavailable'],
    [500, 'InternalServerException', 'The system encountered an unexpected error.', 'failed'],
    [424, 'ModelErrorException', 'The model failed.', 'failed'],
    [408, 'ModelTimeoutException', 'The model took too long.', 'timed_out'],
    [
      403,
      'AccessDeniedException',
      "You don't have access to the model with the specified model ID.",
      'misconfigured',
    ],
    [
      403,
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
      'misconfigured',
    ],
    [403, 'ExpiredTokenException', 'The security token included in the request is expired', 'misconfigured'],
    [
      403,
      'InvalidSignatureException',
      'The request signature we calculated does not match.',
      'misconfigured',
    ],
    [404, 'ResourceNotFoundException', 'Model not found.', 'misconfigured'],
    [400, 'ServiceQuotaExceededException', 'You have exceeded a quota.', 'misconfigured'],
    [404, 'UnknownOperationException', '', 'misconfigured'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'misconfigured'],
    [
      400,
      'ValidationException',
      'Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
      'misconfigured',
    ],
    [
      400,
      'ValidationException',
      `The model ${providerModel} is not available in this region.`,
      'misconfigured',
    ],
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_too_long'],
    [
      400,
      'ValidationException',
      'The model returned the following errors: prompt is too long: 202102 tokens > 200000 maximum',
      'context_too_long',
    ],
    [
      400,
      'ValidationException',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      'context_too_long',
    ],
    [
      400,
      'ValidationException',
      'The model returned the following errors: temperature: range: 0..1',
      'rejected',
    ],
    [
      400,
      'ValidationException',
      "This model doesn't support the toolConfig.toolChoice.any field.",
      'rejected',
    ],
    [418, 'SomethingNewException', 'New.', 'misconfigured'],
    [502, 'SomethingNewException', 'New.', 'failed'],
  ])('with the status %i and the type %s is classified: %s', (status, type, message, kind) => {
    expect(classify(status, type, message)).toBe(kind);
  });

  it.each([
    [400, 'rejected'],
    [401, 'misconfigured'],
    [403, 'misconfigured'],
    [404, 'misconfigured'],
    [408, 'timed_out'],
    [413, 'rejected'],
    [424, 'failed'],
    [429, 'throttled'],
    [500, 'failed'],
    [503, 'unavailable'],
    [529, 'unavailable'],
  ])('without a type is classified by the status %i', (status, kind) => {
    expect(classify(status, undefined, 'It failed.')).toBe(kind);
  });

  it.each([
    [429, 'throttled'],
    [503, 'unavailable'],
    [529, 'unavailable'],
    [408, 'timed_out'],
    [400, 'failed'],
  ])('of the model itself is classified by its original status %i', (originalStatusCode, kind) => {
    for (const type of ['modelStreamErrorException', 'modelErrorException']) {
      const error = errorIn({ [type]: { message: 'x', originalStatusCode } });
      expect(error && kindOfError(error, undefined, providerModel)).toBe(kind);
    }
  });
});
