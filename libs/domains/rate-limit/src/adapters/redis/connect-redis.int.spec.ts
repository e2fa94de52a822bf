import { once } from 'node:events';
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
  type RedisServer,
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

/** Afterwards the server refuses every new connection without this user. */
async function requireUser(
  server: Pick<RedisServer, 'command'>,
  user: string,
  password: string,
): Promise<void> {
  await server.command('ACL', 'SETUSER', user, 'on', `>${password}`, '~*', '&*', '+@all');
  await server.command('ACL', 'SETUSER', 'default', 'off');
}

const withUser = (url: string) => url.replace('://', '://gateway:pass%40word@');

describeWith(redis, 'connections with credentials', () => {
  it('authenticate at one endpoint', async () => {
    const server = await startRedis();
    await requireUser(server, 'gateway', 'pass@word');
    await expectWrites({ url: withUser(server.url) });
    await server.stop();
  });
});

describeWith(localRedis, 'connections with credentials to servers that fail over', () => {
  it('authenticate at the primary that Sentinel reports', async () => {
    const group = await startRedisSentinel();
    for (const server of group.servers) await requireUser(server, 'gateway', 'pass@word');
    await expectWrites({ url: withUser(group.url) });
    await group.stop();
  });

  it('authenticate at every node of a Cluster', async () => {
    const cluster = await startRedisCluster();
    for (const server of cluster.servers) await requireUser(server, 'gateway', 'pass@word');
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

  it('verify certificates and authenticate at every node of a Cluster', async () => {
    const cluster = await startRedisCluster({ tls: files() });
    for (const server of cluster.servers) await requireUser(server, 'gateway', 'pass@word');
    await expectWrites({ url: withUser(cluster.url), tls: { ca: readFileSync(file('ca.crt')) } });
    await cluster.stop();
  });

  it('verify certificates and authenticate at Sentinels and servers with a user of each', async () => {
    const group = await startRedisSentinel({ tls: files() });
    for (const server of group.servers) await requireUser(server, 'gateway', 'pass@word');
    for (const port of group.sentinelPorts) {
      const command = (...words: string[]) => commandRedis(port, ...words);
      await requireUser({ command }, 'watcher', 'other@word');
    }
    const tls = { ca: readFileSync(file('ca.crt')) };
    const url = withUser(group.url);
    await expectWrites({ url: `${url}?sentinel_username=watcher&sentinel_password=other%40word`, tls });
    const unauthorized = connectRedis({
      url: `${url}?sentinel_username=watcher&sentinel_password=pass%40word`,
      tls,
    });
    const error = await new Promise<Error>((resolve) => unauthorized.once('error', resolve));
    expect(error.message).toContain('WRONGPASS');
    unauthorized.disconnect();
    await group.stop();
  });

  it('follow a failover of Sentinel', async () => {
    const group = await startRedisSentinel({ tls: files() });
    const client = connectRedis({ url: group.url, tls: { ca: readFileSync(file('ca.crt')) } });
    await once(client, 'ready');
    await group.failOver();
    await eventually('a write to the new primary', async () => {
      const write = createRedisLimitStore({ redis: client }).probe();
      return write.then(
        () => true,
        () => undefined,
      );
    });
    client.disconnect();
    await group.stop();
  });
});
