import { createOidcIdentityProvider } from './identity-provider';

let sub: string;

jest.mock('openid-client', () => ({
  customFetch: Symbol('customFetch'),
  ClientSecretBasic: () => () => undefined,
  ClientSecretPost: () => () => undefined,
  discovery: () => Promise.resolve({ serverMetadata: () => ({}) }),
  authorizationCodeGrant: () =>
    Promise.resolve({ claims: () => ({ iss: 'https://issuer.example', sub, email: 'ada@example.com' }) }),
}));

it.each([
  ['ada', 'identified'],
  ['', 'failed'],
])('a verified ID token with the subject "%s" is %s', async (subject, kind) => {
  sub = subject;
  const settings = { issuer: 'https://issuer.example', clientId: 'client', clientSecret: 'secret' };
  const identityProvider = createOidcIdentityProvider(settings as never, { now: () => 0 } as never);
  const result = await identityProvider.finish({
    redirectUri: 'https://gateway.example/callback',
    callbackQuery: '?code=code',
    state: 'state',
    nonce: 'nonce',
    codeVerifier: 'verifier',
  });
  expect(result.kind).toBe(kind);
});
