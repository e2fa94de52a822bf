import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import type { Timers } from '../../core/ports';
import { SigV4Credential, type AwsIdentity, type SigV4Options } from './sigv4';

/** The key pair of AWS's published test suite for Signature Version 4. */
const SUITE_IDENTITY: AwsIdentity = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const SUITE_TIME_MS = Date.UTC(2015, 7, 30, 12, 36, 0);
const MINUTE_MS = 60_000;

const noTimers: Timers = { after: () => ({ restart: () => undefined, cancel: () => undefined }) };

function credentialOf(options: Partial<SigV4Options> = {}): SigV4Credential {
  return new SigV4Credential({
    region: 'us-east-1',
    service: 'service',
    resolveIdentity: () => Promise.resolve(SUITE_IDENTITY),
    nowMs: () => SUITE_TIME_MS,
    timers: noTimers,
    onRefreshFailed: () => undefined,
    ...options,
  });
}

const vanilla = { url: new URL('https://example.amazonaws.com/'), headers: {}, body: new Uint8Array() };

/** Calculates the signature of a request as the documents of AWS describe it. */
function expectedSignature(
  request: { method: string; path: string; headers: Record<string, string>; body: Uint8Array },
  secretAccessKey: string,
): string {
  const authorization = request.headers['authorization'] ?? '';
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=/.exec(authorization) ?? [];
  const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
  const hmac = (key: string | Uint8Array, data: string) => createHmac('sha256', key).update(data).digest();
  const canonical = [
    request.method,
    request.path
      .split('/')
      .map((segment) => encodeURIComponent(segment))
      .join('/'),
    '',
    ...names.split(';').map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/\s+/g, ' ')}`),
    '',
    names,
    sha256(request.body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<Uint8Array | string>((last, part) => hmac(last, part), `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

describe('the SigV4 credential', () => {
  it('signs the requests of the published test suite', async () => {
    const credential = credentialOf();
    expect(await credential.authorize(vanilla)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    });
    const form = await credential.authorize({
      ...vanilla,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'not signed',
        accept: '*/*',
      },
      body: Buffer.from('Param1=value1'),
    });
    expect(form['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    );
    await credential.close();
  });

  it('signs a large body, whose checksum is computed in a thread', async () => {
    const body = Buffer.alloc(3_000_000, 'x');
    const credential = credentialOf();
    const added = await credential.authorize({ ...vanilla, body });
    const request = { method: 'POST', path: '/', headers: { host: vanilla.url.host, ...added }, body };
    const signature = expectedSignature(request, SUITE_IDENTITY.secretAccessKey);
    expect(added['authorization']).toContain(`Signature=${signature}`);
    await credential.close();
  });

  it('signs a call to a model by the rules that the SDK of AWS follows', async () => {
    const modelId = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-micro-v1:0';
    const identity = { ...SUITE_IDENTITY, sessionToken: 'session' };
    const sent = await requestOfSdk(modelId, identity);
    const sdkSignature = expectedSignature({ ...sent, method: 'POST' }, identity.secretAccessKey);
    expect(sent.headers['authorization']).toContain(`Signature=${sdkSignature}`);

    const url = new URL(`/model/${encodeURIComponent(modelId)}/converse`, `https://${sent.headers['host']}`);
    expect(url.pathname).toBe(sent.path);
    const headers = { 'content-type': 'application/json' };
    const credential = credentialOf({
      service: 'bedrock',
      resolveIdentity: () => Promise.resolve(identity),
      nowMs: Date.now,
    });
    const added = await credential.authorize({ url, headers, body: sent.body });
    const ours = {
      method: 'POST',
      path: url.pathname,
      headers: { ...headers, host: url.host, ...added },
      body: sent.body,
    };
    expect(added['x-amz-security-token']).toBe(identity.sessionToken);
    expect(added['authorization']).toContain(
      'SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,',
    );
    expect(added['authorization']).toContain(
      `Signature=${expectedSignature(ours, identity.secretAccessKey)}`,
    );
    expect(added['authorization']).toContain('/us-east-1/bedrock/aws4_request');
  });

  it('resolves once for calls at the same time, and never again while the credentials are fresh', async () => {
    let resolved = 0;
    let nowMs = SUITE_TIME_MS;
    const credential = credentialOf({
      nowMs: () => nowMs,
      resolveIdentity: () => {
        resolved += 1;
        return Promise.resolve({ ...SUITE_IDENTITY, expiration: new Date(SUITE_TIME_MS + 60 * MINUTE_MS) });
      },
    });
    await Promise.all([credential.authorize(vanilla), credential.authorize(vanilla)]);
    nowMs += 54 * MINUTE_MS;
    await credential.authorize(vanilla);
    expect(resolved).toBe(1);
  });

  it('signs with the cached credentials while it refreshes them, and with the new ones afterwards', async () => {
    let nowMs = SUITE_TIME_MS;
    const resolutions: ((identity: AwsIdentity) => void)[] = [];
    const credential = credentialOf({
      nowMs: () => nowMs,
      resolveIdentity: () => new Promise<AwsIdentity>((resolve) => resolutions.push(resolve)),
    });
    const identity = (name: string, minutes: number): AwsIdentity => ({
      accessKeyId: name,
      secretAccessKey: 'secret',
      expiration: new Date(SUITE_TIME_MS + minutes * MINUTE_MS),
    });
    const first = credential.authorize(vanilla);
    await until(() => resolutions.length === 1);
    resolutions[0]?.(identity('FIRST', 60));
    await first;

    nowMs += 56 * MINUTE_MS;
    expect((await credential.authorize(vanilla))['authorization']).toContain('FIRST/');
    expect((await credential.authorize(vanilla))['authorization']).toContain('FIRST/');
    expect(resolutions).toHaveLength(2);
    resolutions[1]?.(identity('SECOND', 120));
    await until(
      async () => (await credential.authorize(vanilla))['authorization']?.includes('SECOND/') ?? false,
    );
    expect(resolutions).toHaveLength(2);
  });

  it('reports a failed refresh, retries it later, and fails once the credentials have expired', async () => {
    let nowMs = SUITE_TIME_MS;
    const failures: string[] = [];
    let resolved = 0;
    const credential = credentialOf({
      nowMs: () => nowMs,
      onRefreshFailed: (reason) => failures.push(reason),
      resolveIdentity: () => {
        resolved += 1;
        if (resolved > 1) return Promise.reject(new Error('the role\nwas deleted'));
        return Promise.resolve({ ...SUITE_IDENTITY, expiration: new Date(SUITE_TIME_MS + 60 * MINUTE_MS) });
      },
    });
    await credential.authorize(vanilla);
    nowMs += 56 * MINUTE_MS;
    await credential.authorize(vanilla);
    await until(() => failures.length === 1);
    expect(failures[0]).toContain('AWS credentials are unavailable: the role was deleted');
    await credential.authorize(vanilla);
    expect(resolved).toBe(2);
    nowMs += 6_000;
    await credential.authorize(vanilla);
    await until(() => failures.length === 2);

    nowMs += 10 * MINUTE_MS;
    const failure: unknown = await credential.authorize(vanilla).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'misconfigured', publicMessage: undefined });
    expect(String(failure)).toContain('the role was deleted');
    const before = resolved;
    await expect(credential.authorize(vanilla)).rejects.toBe(failure);
    expect(resolved).toBe(before);
  });

  it('reads credentials without expiry again after five minutes', async () => {
    let nowMs = SUITE_TIME_MS;
    let resolved = 0;
    const credential = credentialOf({
      nowMs: () => nowMs,
      resolveIdentity: () => Promise.resolve({ ...SUITE_IDENTITY, accessKeyId: `KEY${++resolved}` }),
    });
    await credential.authorize(vanilla);
    nowMs += 4 * MINUTE_MS;
    expect((await credential.authorize(vanilla))['authorization']).toContain('KEY1/');
    nowMs += 2 * MINUTE_MS;
    await until(
      async () => (await credential.authorize(vanilla))['authorization']?.includes('KEY2/') ?? false,
    );
    expect(resolved).toBe(2);
  });

  it('does not wait without end for credentials', async () => {
    let onTimeout: () => void = () => undefined;
    const timers: Timers = {
      after: (_ms, run) => {
        onTimeout = run;
        return { restart: () => undefined, cancel: () => undefined };
      },
    };
    let isResolving = false;
    const credential = credentialOf({
      timers,
      resolveIdentity: () => {
        isResolving = true;
        return new Promise(() => undefined);
      },
    });
    const call = credential.authorize(vanilla);
    await until(() => isResolving);
    onTimeout();
    await expect(call).rejects.toMatchObject({ kind: 'misconfigured' });
  });

  it('is misconfigured, with the reason in the log text only, when the chain of AWS finds nothing', async () => {
    await withEnvironment({ AWS_EC2_METADATA_DISABLED: 'true', ...NO_FILES }, async () => {
      const failure: unknown = await byDefaultChain()
        .authorize(vanilla)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: 'misconfigured', publicMessage: undefined });
      expect(String(failure)).toMatch(/AWS credentials are unavailable: .*credentials/i);
    });
  });

  it('picks up a changed credentials file without a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aws-'));
    const file = join(folder, 'credentials');
    const write = (key: string) =>
      writeFileSync(file, `[default]\naws_access_key_id=${key}\naws_secret_access_key=s\n`);
    let nowMs = SUITE_TIME_MS;
    write('OLD');
    await withEnvironment({ ...NO_FILES, AWS_SHARED_CREDENTIALS_FILE: file }, async () => {
      const credential = byDefaultChain({ nowMs: () => nowMs });
      expect((await credential.authorize(vanilla))['authorization']).toContain('OLD/');
      write('NEW');
      nowMs += 6 * MINUTE_MS;
      await until(
        async () => (await credential.authorize(vanilla))['authorization']?.includes('NEW/') ?? false,
      );
    });
    rmSync(folder, { recursive: true });
  });
});

interface SentRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** The signed request of the SDK, caught before it is sent. */
async function requestOfSdk(modelId: string, credentials: AwsIdentity): Promise<SentRequest> {
  let caught: SentRequest | undefined;
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
    requestHandler: {
      handle: (request: { path: string; headers: Record<string, string>; body: Uint8Array }) => {
        caught = request;
        return Promise.reject(new Error('caught'));
      },
    },
  });
  const command = new ConverseCommand({ modelId, messages: [{ role: 'user', content: [{ text: 'Hi' }] }] });
  await expect(client.send(command)).rejects.toThrow('caught');
  if (!caught) throw new Error('the SDK sent nothing');
  return caught;
}

const NO_FILES = { AWS_SHARED_CREDENTIALS_FILE: '/nonexistent', AWS_CONFIG_FILE: '/nonexistent' };

function byDefaultChain(options: Partial<SigV4Options> = {}): SigV4Credential {
  const { nowMs = () => SUITE_TIME_MS } = options;
  return new SigV4Credential({
    region: 'us-east-1',
    service: 'bedrock',
    nowMs,
    timers: noTimers,
    onRefreshFailed: (reason) => {
      throw new Error(reason);
    },
  });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

/** Without any other AWS variable of this machine. */
async function withEnvironment(variables: Record<string, string>, run: () => Promise<void>): Promise<void> {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    await run();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}
