import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpstreamFailure } from '../../core/failure/upstream-failure';
import { nodeTimers } from '../node/timers';
import { GoogleCredential } from './google';

const HOUR_S = 3_600;
const MINUTE_MS = 60_000;

let folder: string;
let keyFile: string;
let server: Server;
/** The subject tokens that Google's token service received, in order. */
let exchanged: string[];
let status: number;
let onExchange: () => void;

// The HTTP client of the library imports an ES module unless it finds `window.fetch`, and jest cannot load that module.
beforeAll(() => Object.assign(globalThis, { window: { fetch } }));
afterAll(() => Reflect.deleteProperty(globalThis, 'window'));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'google-credential-'));
  keyFile = join(folder, 'workload-identity.json');
  exchanged = [];
  status = 200;
  onExchange = () => undefined;
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const fields = new URLSearchParams(body);
      exchanged.push(fields.get('subject_token') ?? '');
      response.writeHead(status, { 'content-type': 'application/json' });
      const token = {
        access_token: `token-${exchanged.length}`,
        token_type: 'Bearer',
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        expires_in: HOUR_S,
      };
      response.end(
        JSON.stringify(status === 200 ? token : { error: 'invalid_grant', error_description: 'revoked' }),
      );
      onExchange();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  writeSubject('pod-1');
  const { port } = server.address() as AddressInfo;
  writeFileSync(
    keyFile,
    JSON.stringify({
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/k',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `http://127.0.0.1:${port}/v1/token`,
      credential_source: { file: join(folder, 'subject') },
      quota_project_id: 'paying-project',
    }),
  );
});

afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function writeSubject(token: string): void {
  writeFileSync(join(folder, 'subject'), token);
}

function credentialAt(clock: { nowMs: number }, onRefreshFailed: (reason: string) => void = () => undefined) {
  return new GoogleCredential({ keyFile, nowMs: () => clock.nowMs, timers: nodeTimers, onRefreshFailed });
}

describe('the Google credential', () => {
  it('exchanges the token of a pod once for calls at the same time', async () => {
    const credential = credentialAt({ nowMs: Date.now() });
    const [first, second] = await Promise.all([credential.authorize(), credential.authorize()]);
    expect(first).toEqual({ authorization: 'Bearer token-1', 'x-goog-user-project': 'paying-project' });
    expect(second).toBe(first);
    expect(exchanged).toEqual(['pod-1']);
    await credential.close();
  });

  it('waits for nothing while its token is valid, and refreshes it before it expires', async () => {
    const clock = { nowMs: Date.now() };
    const credential = credentialAt(clock);
    const first = await credential.authorize();
    clock.nowMs += 50 * MINUTE_MS;
    expect(credential.authorize()).toBe(first);
    expect(exchanged).toEqual(['pod-1']);

    // The kubelet has rotated the pod's token since.
    writeSubject('pod-2');
    clock.nowMs += 6 * MINUTE_MS;
    const refreshed = new Promise<void>((resolve) => (onExchange = resolve));
    expect(credential.authorize()).toBe(first);
    await refreshed;
    expect(exchanged).toEqual(['pod-1', 'pod-2']);
    await credential.close();
  });

  it('is misconfigured without a valid token, with the reason and without the token', async () => {
    status = 400;
    const credential = credentialAt({ nowMs: Date.now() });
    const failure = await Promise.resolve(credential.authorize()).catch((error: unknown) => error);
    if (!(failure instanceof UpstreamFailure)) throw new Error(`expected a failure, got ${String(failure)}`);
    expect(failure.kind).toBe('misconfigured');
    expect(failure.message).toContain('Google credentials are unavailable');
    expect(failure.message).toContain('revoked');
    expect(failure.message).not.toContain('pod-1');
    // Later calls fail at once, and do not repeat the exchange.
    expect(() => credential.authorize()).toThrow(failure);
    expect(exchanged).toEqual(['pod-1']);
    await credential.close();
  });

  it('reports a missing key file as misconfigured', async () => {
    rmSync(keyFile);
    await expect(Promise.resolve(credentialAt({ nowMs: Date.now() }).authorize())).rejects.toMatchObject({
      kind: 'misconfigured',
    });
  });
});
