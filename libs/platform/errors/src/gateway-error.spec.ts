import { errorEnvelope } from './envelope';
import { GatewayError, toGatewayError } from './gateway-error';
import { refusalError, refuse } from './refusal';

describe('GatewayError', () => {
  it('keeps internal text out of the envelope', () => {
    const error = new GatewayError('upstream_error', {
      internalMessage: 'token sk-secret refused',
      cause: new Error('connect ECONNREFUSED 10.0.0.1'),
    });
    expect(JSON.stringify(errorEnvelope(error))).not.toMatch(/sk-secret|ECONNREFUSED/);
    expect(errorEnvelope(error).error.code).toBe('upstream_error');
  });

  it('omits param when there is none, and always has a metadata object', () => {
    expect(errorEnvelope(new GatewayError('invalid_json')).error).toEqual({
      message: 'The request body is not valid JSON.',
      type: 'invalid_request_error',
      code: 'invalid_json',
      metadata: {},
    });
    expect(errorEnvelope(new GatewayError('unknown_parameter', { param: 'foo' })).error.param).toBe('foo');
  });

  it('uses the wait of the table, and the given wait where the table has none', () => {
    expect(new GatewayError('no_capacity').retryAfterMs).toBe(10_000);
    expect(new GatewayError('no_capacity', { retryAfterMs: 3 }).retryAfterMs).toBe(10_000);
    expect(new GatewayError('rpm_exceeded', { retryAfterMs: 3 }).retryAfterMs).toBe(3);
    expect(new GatewayError('rpm_exceeded').retryAfterMs).toBeUndefined();
  });

  it('converts any unknown error to an internal_error without details', () => {
    const error = toGatewayError(new TypeError('cannot read secret of undefined'));
    expect(errorEnvelope(error).error.message).not.toContain('secret');
    expect(error.internalMessage).toContain('secret');
    expect(toGatewayError('text').code).toBe('internal_error');
    expect(toGatewayError(error)).toBe(error);
  });

  it('carries every property of a refusal', () => {
    const error = refusalError(
      refuse('max_tokens_exceeds_cap', {
        message: 'The cap is 10.',
        param: 'max_tokens',
        metadata: { limit: 10 },
      }),
    );
    expect(errorEnvelope(error).error).toEqual({
      message: 'The cap is 10.',
      type: 'invalid_request_error',
      param: 'max_tokens',
      code: 'max_tokens_exceeds_cap',
      metadata: { limit: 10 },
    });
  });
});
