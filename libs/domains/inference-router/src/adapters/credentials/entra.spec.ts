import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeTimers } from '../node/timers';
import { EntraCredential } from './entra';

const MINUTE_MS = 60_000;
/** Azure's library caches tokens that are valid for more than five minutes, in the whole process. */
const LIFETIME_MS = 4 * MINUTE_MS;

let server: Server;
let requested: URL[];
let onRequest: () => void;

/** The endpoint of managed identities in Azure App Service, which the library finds in the environment. */
beforeEach(async () => {
  requested = [];
  onRequest = () => undefined;
  server = createServer(({ url = '', headers }, response) => {
    requested.push(new URL(url, 'http://identity'));
    const isKnown = headers['x-identity-header'] === 'secret-header';
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    const expiresOn = Math.floor((Date.now() + LIFETIME_MS) / 1000);
    response.end(
      JSON.stringify({
        access_token: `token-${requested.length}`,
        expires_on: expiresOn,
        token_type: 'Bearer',
      }),
    );
    onRequest();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  process.env['IDENTITY_ENDPOINT'] = `http://127.0.0.1:${port}/token`;
  process.env['IDENTITY_HEADER'] = 'secret-header';
  process.env['AZURE_TOKEN_CREDENTIALS'] = 'ManagedIdentityCredential';
});

afterEach(() => {
  delete process.env['IDENTITY_ENDPOINT'];
  delete process.env['IDENTITY_HEADER'];
  delete process.env['AZURE_TOKEN_CREDENTIALS'];
  server.close();
});

const credentialAt = (clock: { nowMs: number }) =>
  new EntraCredential({
    nowMs: () => clock.nowMs,
    timers: nodeTimers,
    onRefreshFailed: () => undefined,
  });

it('a call is authorized by a token for Azure OpenAI, which is requested once and refreshed before it expires', async () => {
  const clock = { nowMs: Date.now() };
  const credential = credentialAt(clock);
  const [first, second] = await Promise.all([credential.authorize(), credential.authorize()]);
  expect(first).toEqual({ authorization: 'Bearer token-1' });
  expect(second).toBe(first);
  expect(requested.map(({ searchParams }) => searchParams.get('resource'))).toEqual(['https://ai.azure.com']);
  clock.nowMs += MINUTE_MS;
  expect(credential.authorize()).toBe(first);
  expect(requested).toHaveLength(1);
  clock.nowMs += 2 * MINUTE_MS;
  const refreshed = new Promise<void>((resolve) => (onRequest = resolve));
  // The call does not wait for the refresh.
  expect(credential.authorize()).toBe(first);
  await refreshed;
  expect(requested).toHaveLength(2);
  await credential.close();
});

it('without a token, a call is misconfigured', async () => {
  process.env['AZURE_TOKEN_CREDENTIALS'] = 'EnvironmentCredential';
  const credential = credentialAt({ nowMs: Date.now() });
  const failure = Promise.resolve(credential.authorize());
  await expect(failure).rejects.toMatchObject({
    kind: 'misconfigured',
    message: expect.stringContaining('Microsoft Entra credentials are unavailable'),
  });
  await credential.close();
});
