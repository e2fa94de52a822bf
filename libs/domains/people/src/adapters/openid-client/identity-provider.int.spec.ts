import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import {
  createSsoBrowser,
  createTestClock,
  startIdentityProvider,
  type AlterResponse,
  type IdentityProviderUnderTest,
} from '@gateway/test-support';
import { createOidcIdentityProvider } from './identity-provider';

const REDIRECT_URI = 'http://127.0.0.1:1234/api/oidc/callback';
const HOUR_MS = 60 * 60_000;

let provider: IdentityProviderUnderTest;
const clock = createTestClock();
beforeAll(async () => {
  provider = await startIdentityProvider();
});
afterAll(() => provider.close());
afterEach(() => provider.alterResponses(undefined));

const createClient = (changes: object = {}) =>
  createOidcIdentityProvider({ ...provider, label: 'Acme login', ...changes }, clock);
let client: ReturnType<typeof createClient>;
beforeAll(() => (client = createClient()));

let flows = 0;
const secretsOf = (name: string) => ({
  redirectUri: REDIRECT_URI,
  ...{ state: `state-${name}`, nonce: `nonce-${name}`, codeVerifier: `verifier-${name}`.padEnd(43, '-') },
});

/** Signs in at the provider, up to its redirect to the callback. */
async function start(login = 'ada@example.com', changeStart: (to: URL) => void = () => undefined) {
  const secrets = secretsOf(`${(flows += 1)}`);
  const started = await client.start(secrets);
  if (started.kind !== 'started') throw new Error(started.detail);
  const to = new URL(started.authorizationUrl);
  changeStart(to);
  const back = await createSsoBrowser().signInAtProvider(to, login);
  return { secrets, back };
}
type Started = Awaited<ReturnType<typeof start>>;
const finish = ({ secrets, back }: Started) => client.finish({ ...secrets, callbackQuery: back.search });

it.each([
  ['ada@example.com', true],
  ['unverified eve@example.com', false],
])('identifies %s by subject and email; verified: %s', async (login, emailVerified) => {
  const email = login.replace('unverified ', '');
  expect(await finish(await start(login))).toEqual({
    ...{ kind: 'identified', issuer: provider.issuer, subject: login, email, emailVerified },
  });
});

describe('a callback is refused', () => {
  const fails = async (started: Started) =>
    expect(await finish(started)).toEqual({ kind: 'failed', detail: expect.stringMatching(/^\w*Error/) });

  it.each<[string, (own: Started, other: Started) => void]>([
    [
      'the code of another sign-in',
      (own, { back }) => own.back.searchParams.set('code', back.searchParams.get('code') ?? ''),
    ],
    ['another state', (own) => own.back.searchParams.set('state', 'of-another-sign-in')],
    ['another issuer', (own) => own.back.searchParams.set('iss', 'https://evil.example')],
    ['no issuer', (own) => own.back.searchParams.delete('iss')],
    ['two states', (own) => own.back.searchParams.append('state', own.secrets.state)],
  ])('with %s', async (_what, change) => {
    const [own, other] = [await start(), await start('victim@example.com')];
    change(own, other);
    await fails(own);
  });

  it('with a used code', async () => {
    const started = await start();
    expect(await finish(started)).toMatchObject({ kind: 'identified' });
    await fails(started);
  });

  it.each([
    ['nonce', 'of-another-sign-in'],
    ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
  ])('of a sign-in that was started with another %s', async (name, value) =>
    fails(await start('mallory@example.com', (to) => to.searchParams.set(name, value))),
  );

  it('of a person who declined', async () => {
    const secrets = secretsOf('declined');
    const started = await client.start(secrets);
    const to = started.kind === 'started' ? started.authorizationUrl : '';
    const back = await createSsoBrowser().signInAtProvider(to, '', 'abort');
    expect(await finish({ secrets, back })).toMatchObject({ kind: 'denied' });
  });
});

describe('an ID token', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signed = (content: string) => sign('sha256', Buffer.from(content), privateKey).toString('base64url');
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  type Token = Readonly<Record<string, unknown>>;
  const token = (header: object, claims: object, signatureOf = signed) => {
    const content = `${encoded({ typ: 'JWT', ...header })}.${encoded(claims)}`;
    return `${content}.${signatureOf(content)}`;
  };
  /** A token whose signature is valid. */
  const withClaims = (changes: object) => (claims: Token) => token(HEADER, { ...claims, ...changes });
  const HEADER = { alg: 'RS256', kid: 'test' };

  /** The outcome of a sign-in for which the provider replaces the ID token, and signs with the test's key. */
  async function outcomeOf(forge: (claims: Token) => string) {
    client = createClient();
    const started = await start();
    provider.alterResponses((path, response) => {
      if (path === '/jwks') {
        const key = { ...publicKey.export({ format: 'jwk' }), ...HEADER, use: 'sig' };
        return { ...response, body: JSON.stringify({ keys: [key] }) };
      }
      if (path !== '/token') return response;
      const tokens = JSON.parse(response.body) as { id_token: string };
      const claims = Buffer.from(tokens.id_token.split('.')[1] ?? '', 'base64url').toString();
      return {
        ...response,
        body: JSON.stringify({ ...tokens, id_token: forge(JSON.parse(claims) as Token) }),
      };
    });
    return finish(started);
  }

  it('is accepted with a valid signature and the claims of this sign-in', async () => {
    expect(await outcomeOf(withClaims({}))).toMatchObject({ kind: 'identified' });
  });

  const hmac = (content: string) =>
    createHmac('sha256', provider.clientSecret).update(content).digest('base64url');
  it.each<[string, (claims: Token) => string, string]>([
    [
      'with the signature of another token',
      (claims) => token(HEADER, claims, () => signed('other')),
      'RESPONSE',
    ],
    ['unsigned', (claims) => token({ alg: 'none' }, claims, () => ''), 'RESPONSE'],
    ['signed with the client secret', (claims) => token({ alg: 'HS256' }, claims, hmac), 'RESPONSE'],
    ['signed with an unknown key', (claims) => token({ ...HEADER, kid: 'x' }, claims), 'KEY'],
    ['of another issuer', withClaims({ iss: 'https://evil.example' }), 'CLAIM'],
    ['for another client', withClaims({ aud: 'another-client' }), 'CLAIM'],
    [
      'for several clients, issued to another',
      withClaims({ aud: ['the-gateway', 'other'], azp: 'other' }),
      'CLAIM',
    ],
    ['that has expired', withClaims({ exp: 1 }), 'TIMESTAMP'],
    ['with another nonce', withClaims({ nonce: 'of-another-sign-in' }), 'CLAIM'],
    ['without a nonce', withClaims({ nonce: undefined }), 'RESPONSE'],
    ['without a subject', withClaims({ sub: undefined }), 'RESPONSE'],
    ['with an empty subject', withClaims({ sub: '' }), 'subject'],
    ['for another subject than the userinfo', withClaims({ sub: 'victim@example.com' }), 'COMPARISON'],
    ['that is no token', () => 'abc', 'RESPONSE'],
  ])('is refused %s', async (_what, forge, reason) => {
    expect(await outcomeOf(forge)).toEqual({ kind: 'failed', detail: expect.stringContaining(reason) });
  });
});

describe('a provider that is down', () => {
  it.each<[string, AlterResponse]>([
    ['does not respond', () => 'no response'],
    ['fails', (_path, response) => ({ ...response, status: 503, body: 'down' })],
  ])('and %s before the callback is unavailable', async (_what, alter) => {
    const started = await start();
    provider.alterResponses(alter);
    expect(await finish(started)).toMatchObject({ kind: 'unavailable' });
  });

  it('and is unreachable is unavailable before the callback and at the start, and again available afterwards', async () => {
    const started = await start();
    const fresh = createClient();
    await provider.suspend();
    expect(await finish(started)).toMatchObject({ kind: 'unavailable' });
    expect(await fresh.start(secretsOf('down'))).toMatchObject({ kind: 'unavailable' });
    // The metadata is cached for an hour.
    expect(await client.start(secretsOf('cached'))).toMatchObject({ kind: 'started' });
    clock.advance(HOUR_MS);
    expect(await client.start(secretsOf('expired'))).toMatchObject({ kind: 'unavailable' });
    await provider.resume();
    for (const each of [client, fresh]) {
      expect(await each.start(secretsOf('up'))).toMatchObject({ kind: 'started' });
    }
  });

  it('and sends more metadata than the limit is unavailable', async () => {
    provider.alterResponses((_path, response) => ({ ...response, body: ' '.repeat(16 * 1024 * 1024) }));
    expect((await createClient().start(secretsOf('large'))).kind).toBe('unavailable');
  });
});
