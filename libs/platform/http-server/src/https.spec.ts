import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate, type SecureVersion, type TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate, type KeyPairPem } from '@gateway/certificates';
import { createHttpServer, type HttpServer } from './http-server';
import type { TlsFiles } from './tls-files';

let folder: string;
let files: TlsFiles;
let authority: KeyPairPem;
let server: HttpServer | undefined;
let errors: Error[];

beforeAll(async () => {
  authority = await createAuthority();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-https-'));
  files = { certificateFile: join(folder, 'tls.crt'), privateKeyFile: join(folder, 'tls.key') };
  errors = [];
  await renew();
});
afterEach(async () => {
  jest.useRealTimers();
  const drained = server?.drain();
  server?.destroy();
  await drained;
  server = undefined;
  rmSync(folder, { recursive: true });
});

async function renew(): Promise<void> {
  const issued = await issueCertificate(authority, { dnsNames: ['localhost'], validDays: 1 });
  writeFileSync(files.certificateFile, issued.certificate);
  writeFileSync(files.privateKeyFile, issued.privateKey);
}

function create(): HttpServer {
  return createHttpServer(
    {
      handle: (_request, response) => void response.end('served'),
      renderUnreadable: (request) => ({ httpStatus: 400, requestId: 'req_1', body: request }),
      onError: (error) => errors.push(error),
    },
    {
      host: '127.0.0.1',
      port: 0,
      maxHeaderBytes: 32 * 1024,
      headersTimeoutMs: 20_000,
      requestTimeoutMs: 20_000,
      keepAliveMs: 20_000,
      tls: files,
    },
  );
}

async function start(): Promise<number> {
  server = create();
  return (await server.start()).port;
}

const trusted = () => ({
  host: '127.0.0.1',
  servername: 'localhost',
  ca: authority.certificate,
  agent: false,
});

function read(port: number): Promise<{ body: string; certificate: PeerCertificate }> {
  return new Promise((resolve, reject) => {
    get({ ...trusted(), port }, (response) => {
      const certificate = (response.socket as TLSSocket).getPeerCertificate();
      let body = '';
      response.on('data', (data: Buffer) => (body += data.toString()));
      response.on('end', () => resolve({ body, certificate }));
    }).on('error', reject);
  });
}

function handshake(port: number, version: SecureVersion): Promise<string> {
  return new Promise((resolve) => {
    const options = { ...trusted(), port, minVersion: version, maxVersion: version };
    // OpenSSL offers old versions at security level 0 only.
    const socket = connect({ ...options, ciphers: 'ALL:@SECLEVEL=0' }, () => {
      resolve(socket.getProtocol() ?? '');
      socket.destroy();
    });
    socket.on('error', () => resolve('refused'));
  });
}

it('serves HTTPS with TLS 1.2 and later', async () => {
  const port = await start();
  expect((await read(port)).body).toBe('served');
  expect([
    await handshake(port, 'TLSv1.1'),
    await handshake(port, 'TLSv1.2'),
    await handshake(port, 'TLSv1.3'),
  ]).toEqual(['refused', 'TLSv1.2', 'TLSv1.3']);
});

it('serves a renewed certificate, and its last one while the files are unreadable', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'performance', 'Date'] });
  const port = await start();
  const first = (await read(port)).certificate.serialNumber;
  await renew();
  jest.advanceTimersByTime(10_000);
  const second = (await read(port)).certificate.serialNumber;
  expect(second).not.toBe(first);
  writeFileSync(files.certificateFile, 'half a certificate');
  jest.advanceTimersByTime(30_000);
  expect((await read(port)).certificate.serialNumber).toBe(second);
  expect(errors).toEqual([
    expect.objectContaining({ message: expect.stringContaining(files.certificateFile) }),
  ]);
});

it('does not start with a key of another certificate', async () => {
  const { privateKey } = await issueCertificate(authority, { dnsNames: ['localhost'], validDays: 1 });
  writeFileSync(files.privateKeyFile, privateKey);
  expect(create).toThrow(`${files.certificateFile} and ${files.privateKeyFile} are not a certificate`);
});

it('responds to malformed HTTP inside TLS as without it', async () => {
  const port = await start();
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect({ ...trusted(), port }, () => socket.write('nonsense\r\n\r\n'));
    let text = '';
    socket.on('data', (data) => (text += data.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
  expect(received).toMatch(/^HTTP\/1.1 400 Bad Request[^]*malformed$/);
});
