import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createConnection, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { createAuthority, issueCertificate } from '@gateway/certificates';
import { findFreePort, startEmbeddedPostgres } from '@gateway/database';
import {
  describeWith,
  kafka,
  localRedis,
  startKafka,
  startLocalRedis,
  tlsSettings,
} from '@gateway/dev-infra';
import { createSilentLogger } from '@gateway/runtime';
import { bundleProgram, eventually, startMailServer } from '@gateway/test-support';
import { Client } from 'pg';

const UNTRUSTED = /certificate|UNABLE_TO_VERIFY|SELF_SIGNED/;

jest.setTimeout(120_000);

describe('a private authority that NODE_EXTRA_CA_CERTS names', () => {
  let folder: string;
  let program: string;
  const stops: (() => Promise<unknown>)[] = [];
  const file = (name: string) => path.join(folder, name);
  const tls = () => ({ cert: readFileSync(file('tls.crt')), key: readFileSync(file('tls.key')) });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'gateway-authority-'));
    chmodSync(folder, 0o755);
    const authority = await createAuthority();
    const issued = await issueCertificate(authority, { dnsNames: ['localhost'], validDays: 1 });
    writeFileSync(file('ca.crt'), authority.certificate);
    writeFileSync(file('tls.crt'), issued.certificate);
    writeFileSync(file('tls.key'), issued.privateKey, { mode: 0o600 });
    writeFileSync(file('other-ca.crt'), (await createAuthority()).certificate);
    program = bundleProgram('apps/gateway/src/testing/tls-client-process.ts');
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What the client prints with this authority. */
  async function connect(client: string, url: string, authority?: string): Promise<string> {
    const env = {
      PATH: process.env['PATH'],
      ...(authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: file(authority) }),
    };
    return (
      await promisify(execFile)(process.execPath, [program, client, url, file('other-ca.crt')], { env })
    ).stdout;
  }

  async function expectTrust(client: string, url: string): Promise<void> {
    expect(await connect(client, url, 'ca.crt')).toBe('connected');
    expect(await connect(client, url)).toMatch(UNTRUSTED);
    expect(await connect(client, url, 'other-ca.crt')).toMatch(UNTRUSTED);
  }

  async function listen(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  /** A server with TLS in front of one without. @returns its port */
  const withTls = (target: { host: string; port: number }): Promise<number> =>
    listen(
      createTlsServer(tls(), (socket) => {
        const upstream = createConnection(target);
        for (const each of [socket, upstream])
          each.on('error', () => undefined).once('close', () => [socket, upstream].map((s) => s.destroy()));
        socket.pipe(upstream).pipe(socket);
      }),
    );

  /** A server of an identity provider, a collector and a model provider. */
  async function startHttps(): Promise<string> {
    let origin = '';
    const server = createHttpsServer(tls(), (_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer: origin }));
    });
    origin = `https://localhost:${await listen(server)}`;
    stops.push(async () => server.closeAllConnections());
    return origin;
  }

  it('is trusted by the client of PostgreSQL with sslmode=verify-full', async () => {
    const stateDirectory = file('postgres');
    const server = await startEmbeddedPostgres({ stateDirectory, log: createSilentLogger() });
    stops.push(() => server.stop());
    const { uid, gid } = statSync(server.dataDirectory);
    for (const [name, target] of [
      ['tls.crt', 'postgres.crt'],
      ['tls.key', 'postgres.key'],
    ] as const) {
      writeFileSync(file(target), readFileSync(file(name)), { mode: 0o600 });
      if (process.getuid?.() === 0) chownSync(file(target), uid, gid);
    }
    const client = new Client({ connectionString: server.adminUrl });
    await client.connect();
    await client.query(`alter system set ssl_cert_file = ${client.escapeLiteral(file('postgres.crt'))}`);
    await client.query(`alter system set ssl_key_file = ${client.escapeLiteral(file('postgres.key'))}`);
    await client.query('alter system set ssl = on');
    await client.query('select pg_reload_conf()');
    await client.end();
    const url = `${server.url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full`;
    // The server reads its new settings a moment after the reload.
    await eventually('TLS of PostgreSQL', async () =>
      (await connect('postgres', url, 'ca.crt')) === 'connected' ? true : undefined,
    );
    await expectTrust('postgres', url);
  });

  it('is trusted by the clients of a collector, an identity provider and a model provider', async () => {
    const origin = await startHttps();
    await expectTrust('otlp', `${origin}/v1/traces`);
    await expectTrust('oidc', origin);
    await expectTrust('provider', origin);
  });

  it('is trusted by the client of a mail server', async () => {
    const server = await startMailServer();
    stops.push(() => server.stop());
    await expectTrust('smtp', `smtps://localhost:${await withTls({ host: '127.0.0.1', port: server.port })}`);
  });

  it('is not trusted where a client has an authority of its own, as between the services', async () => {
    expect(await connect('pinned', await startHttps(), 'ca.crt')).toMatch(UNTRUSTED);
  });

  describeWith(localRedis, 'at Redis', () => {
    it('is trusted by the client with rediss://', async () => {
      const port = await findFreePort();
      const files = {
        authority: file('ca.crt'),
        certificate: file('tls.crt'),
        privateKey: file('tls.key'),
      };
      const server = await startLocalRedis({ settings: tlsSettings(files, port) });
      stops.push(() => server.stop());
      await expectTrust('redis', `rediss://localhost:${port}`);
    });
  });

  describeWith(kafka, 'at Kafka', () => {
    it('is trusted by the client with KAFKA_TLS=true', async () => {
      const target = { host: '', port: 0 };
      const port = await withTls(target);
      const server = await startKafka({
        settings: { 'advertised.listeners': `PLAINTEXT://localhost:${port}` },
      });
      stops.push(() => server.stop());
      const [host = '', brokerPort] = server.broker.split(':');
      Object.assign(target, { host, port: Number(brokerPort) });
      await expectTrust('kafka', `localhost:${port}`);
    });
  });
});
