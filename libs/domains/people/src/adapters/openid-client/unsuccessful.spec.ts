import { unsuccessful } from './unsuccessful';

const failure = (name: string, fields: object = {}) =>
  Object.assign(new Error('with a code abc'), { name, ...fields });

describe('what a provider’s failure is taken for', () => {
  it.each([
    ['a refusal by the person', failure('AuthorizationResponseError', { error: 'access_denied' }), 'denied'],
    [
      'one of the provider that will pass',
      failure('AuthorizationResponseError', { error: 'server_error' }),
      'unavailable',
    ],
    [
      'a code that is not good',
      failure('ResponseBodyError', { error: 'invalid_grant', status: 400 }),
      'failed',
    ],
    ['nobody there', failure('TypeError'), 'unavailable'],
    ['no answer in time', failure('ClientError', { code: 'OAUTH_TIMEOUT' }), 'unavailable'],
    [
      'a broken provider',
      failure('ClientError', { cause: new Response('', { status: 502 }) }),
      'unavailable',
    ],
    ['a provider that moved', failure('ClientError', { cause: new Response('', { status: 404 }) }), 'failed'],
    [
      'a claim that is not so',
      failure('ClientError', { code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' }),
      'failed',
    ],
    ['anything else', 'text', 'failed'],
  ])('%s', (_what, error, kind) => {
    expect(unsuccessful(error).kind).toBe(kind);
  });

  it('is told to logs by names alone', () => {
    const error = failure('ClientError', { code: 'OAUTH_X', cause: { email: 'ada@example.com' } });
    expect(unsuccessful(error).detail).toBe('ClientError OAUTH_X');
    expect(unsuccessful(failure('E', { error: 'eyJ token, and more' })).detail).toBe('E');
  });
});
