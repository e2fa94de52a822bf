import { ErrorDetail } from '@gateway/contracts/common';
import { errorCodes, errorTable, GatewayError } from '@gateway/errors';
import { decodeError, encodeError, MAX_ERROR_DETAIL_BYTES } from './error-codec';

describe('the error codec', () => {
  it.each(errorCodes)('encodes and decodes %s', (code) => {
    expect(decodeError(encodeError(new GatewayError(code)))).toMatchObject({
      code,
      message: new GatewayError(code).message,
      param: undefined,
      metadata: {},
      retryAfterMs: errorTable[code].retryAfterMs,
    });
  });

  it.each([true, false])('includes whether a provider was called: %s', (providerCalled) => {
    const error = new GatewayError('upstream_error', { providerCalled });
    expect(decodeError(encodeError(error)).providerCalled).toBe(providerCalled);
  });

  it.each([true, false])('includes whether the generation has a record: %s', (generationRecorded) => {
    const error = new GatewayError('upstream_error', { generationRecorded });
    expect(decodeError(encodeError(error)).generationRecorded).toBe(generationRecorded);
  });

  it('rounds retry delays up to whole milliseconds, so that no client retries too early', () => {
    expect(
      decodeError(encodeError(new GatewayError('rpm_exceeded', { retryAfterMs: 0.2 }))).retryAfterMs,
    ).toBe(1);
  });

  it('never exceeds the size limit', () => {
    const long = '€'.repeat(1_000_000);
    const error = new GatewayError('invalid_request', { message: long, param: long, metadata: { long } });
    const bytes = encodeError(error);
    expect(bytes.length).toBeLessThanOrEqual(MAX_ERROR_DETAIL_BYTES);
    expect(decodeError(bytes)).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^€+$/),
    });
  });

  it.each([
    ['bytes of another kind', Buffer.from('not a message')],
    ['no bytes', new Uint8Array()],
    ['an unknown code', ErrorDetail.encode(ErrorDetail.create({ code: 'toString' })).finish()],
    [
      'metadata that is no JSON',
      ErrorDetail.encode(ErrorDetail.create({ code: 'rpm_exceeded', metadataJson: '{' })).finish(),
    ],
  ])('decodes %s as a bare internal_error', (_, bytes) => {
    expect(decodeError(bytes)).toMatchObject({
      code: 'internal_error',
      message: new GatewayError('internal_error').message,
    });
  });
});
