import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAuthority, issueCertificate } from '@gateway/certificates';
import { findFreePort } from '@gateway/database';
import {
  commandRedis,
  describeWith,
  localRedis,
  redis,
  startLocalRedis,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
  tlsSettings,
} from '@gateway/dev-infra';
import { eventually } from '@gateway/test-support';
import { connectRedis, type RedisConnectionOptions } from './connect-redis';
import { createRedisLimitStore } from './redis-limit-store';

/** Resolves when a write succeeds. */
async function expectWrites(options: RedisConnectionOptions): Promise<void> {
  const client = connectRedis(options);
  const store = createRedisLimitStore({ redis: client });
  try {
    await eventually('a write', () =>
      store.probe().then(
        () => true,
        () => undefined,
      ),
    );
  } finally {
    client.disconnect();
  }
}

const withUser = (url: string) => url.replace('://', '://gateway:pass%40word@');
const SET_USER = ['ACL', 'SETUSER', 'gateway', 'on', '>pass@word', '~*', '+@all'];

describeWith(redis, 'connections with credentials', () => {
  it('authenticate at one endpoint', async () => {
    const server = await startRedis();
    await server.command(...SET_USER);
    await server.command('ACL', 'SETUSER', 'default', 'off');
    await expectWrites({ url: withUser(server.url) });
    await server.stop();
  });
});

describeWith(localRedis, 'connections with credentials to servers that fail over', () => {
  it('authenticate at the primary that Sentinel reports', async () => {
    const group = await startRedisSentinel();
    for (const { port } of group.servers) await commandRedis(port, ...SET_USER);
    await expectWrites({ url: withUser(group.url) });
    await group.stop();
  });

  it('authenticate at every node of a Cluster', async () => {
    const cluster = await startRedisCluster();
    for (const { port } of cluster.servers) {
      await commandRedis(port, ...SET_USER);
      await commandRedis(port, 'ACL', 'SETUSER', 'default', 'off');
    }
    await expectWrites({ url: withUser(cluster.url) });
    await cluster.stop();
  });
});

describeWith(localRedis, 'connections with TLS', () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  const files = () => ({
    authority: file('ca.crt'),
    certificate: file('tls.crt'),
    privateKey: file('tls.key'),
  });

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'gateway-redis-tls-'));
    const authority = await createAuthority();
    const issued = await issueCertificate(authority, { dnsNames: ['localhost'], validDays: 1 });
    writeFileSync(file('ca.crt'), authority.certificate);
    writeFileSync(file('tls.crt'), issued.certificate);
    writeFileSync(file('tls.key'), issued.privateKey);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('verify the certificate of one endpoint', async () => {
    const port = await findFreePort();
    const server = await startLocalRedis({ settings: tlsSettings(files(), port) });
    const url = `rediss://localhost:${port}`;
    await expectWrites({ url, tls: { ca: readFileSync(file('ca.crt')) } });
    const untrusting = connectRedis({ url });
    const error = await new Promise<Error>((resolve) => untrusting.once('error', resolve));
    expect((error as NodeJS.ErrnoException).code).toMatch(/SELF_SIGNED|UNABLE_TO/);
    untrusting.disconnect();
    await server.stop();
  });

  it('verify the certificate of every node of a Cluster', async () => {
    const cluster = await startRedisCluster({ tls: files() });
    await expectWrites({ url: cluster.url, tls: { ca: readFileSync(file('ca.crt')) } });
    await cluster.stop();
  });
});
