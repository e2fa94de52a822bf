import { mapOidcError } from './map-oidc-error';

const failure = (name: string, fields: object = {}) =>
  Object.assign(new Error('with a code abc'), { name, ...fields });

describe('a failed sign-in at the identity provider', () => {
  it.each([
    ['denied by the user', failure('AuthorizationResponseError', { error: 'access_denied' }), 'denied'],
    [
      'with a temporary error of the provider',
      failure('AuthorizationResponseError', { error: 'server_error' }),
      'unavailable',
    ],
    ['with an invalid code', failure('ResponseBodyError', { error: 'invalid_grant', status: 400 }), 'failed'],
    ['without a connection', failure('TypeError'), 'unavailable'],
    ['without a response in time', failure('ClientError', { code: 'OAUTH_TIMEOUT' }), 'unavailable'],
    [
      'with a server error of the provider',
      failure('ClientError', { cause: new Response('', { status: 502 }) }),
      'unavailable',
    ],
    ['at a wrong address', failure('ClientError', { cause: new Response('', { status: 404 }) }), 'failed'],
    ['with a wrong claim', failure('ClientError', { code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' }), 'failed'],
    ['with any other error', 'text', 'failed'],
  ])('%s', (_what, error, kind) => {
    expect(mapOidcError(error).kind).toBe(kind);
  });

  it('is logged by error names only', () => {
    const error = failure('ClientError', { code: 'OAUTH_X', cause: { email: 'ada@example.com' } });
    expect(mapOidcError(error).detail).toBe('ClientError OAUTH_X');
    expect(mapOidcError(failure('E', { error: 'eyJ token, and more' })).detail).toBe('E');
  });
});
