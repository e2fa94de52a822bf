import { RateLimitDefinition, type Admission } from '@gateway/contracts/rate-limit';
import { findFreePort } from '@gateway/database';
import { describeWith, redis, startRedis, type RedisServer } from '@gateway/dev-infra';
import { createService, type RunningService } from '@gateway/process';
import { createClient, type RpcClient } from '@gateway/rpc';
import { createReplicatedTransport, type GrpcTransport } from '@gateway/rpc/grpc';
import { createLogger, readConfig } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { settings, type Config } from './config';
import { wireRateLimit } from './wiring';

describeWith(redis, 'the rate-limit service in two replicas', () => {
  let server: RedisServer;
  const services: RunningService[] = [];
  let transport: GrpcTransport;
  let client: RpcClient<typeof RateLimitDefinition>;
  let adminPorts: number[];
  const warnings: string[] = [];
  const log = createLogger({
    name: 'rate-limit',
    level: 'warn',
    pretty: false,
    destination: { write: (line) => void warnings.push(line) },
  });

  async function start(more: Record<string, string> = {}): Promise<Config> {
    const config = readConfig(settings, {
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_RPC_PORT: String(await findFreePort()),
      GATEWAY_RPC_ADMIN_PORT: String(await findFreePort()),
      GATEWAY_RPC_SECURITY: 'plaintext',
      GATEWAY_ADMIN_PORT: String(await findFreePort()),
      REDIS_URL: server.url,
      ...more,
    });
    const service = createService({
      name: 'rate-limit',
      config,
      log,
      wire: wireRateLimit,
    });
    services.push(service);
    await service.start();
    return config;
  }

  async function open(more: Record<string, string> = {}): Promise<void> {
    warnings.splice(0);
    server = await startRedis();
    const configs = [await start(more), await start(more)];
    adminPorts = configs.map((config) => config.GATEWAY_ADMIN_PORT);
    transport = createReplicatedTransport({
      target: configs.map((config) => `127.0.0.1:${config.GATEWAY_RPC_PORT}`).join(','),
    });
    client = createClient(RateLimitDefinition, transport);
    await eventually('both to be ready', async () => ((await readiness()).every(Boolean) ? true : undefined));
  }

  afterEach(async () => {
    transport.close();
    await Promise.all(services.splice(0).map((service) => service.stop()));
    await server.stop();
  });

  const readiness = () =>
    Promise.all(
      adminPorts.map(
        async (port) =>
          (await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } })).ok,
      ),
    );

  let ids = 0;
  const request = (concurrency: number): Admission => ({
    admissionId: `gen-${(ids += 1)}`,
    organizationId: 'org-1',
    keyId: 'key-1',
    tokens: 1,
    keyLimits: { requestsPerMinute: undefined, tokensPerMinute: undefined, concurrency },
    organizationLimits: undefined,
  });

  async function outcomes(admissions: readonly Admission[]): Promise<(string | undefined)[]> {
    const responses = await Promise.all(
      admissions.map((admission) => client.admit({ admissions: [admission] })),
    );
    return responses.map(({ results }) => results[0]?.outcome?.$case);
  }

  const count = (decided: readonly (string | undefined)[], outcome: string) =>
    decided.filter((each) => each === outcome).length;

  it('admits exactly the limit across both replicas', async () => {
    await open();
    const decided = await outcomes(Array.from({ length: 60 }, () => request(20)));
    expect([count(decided, 'admitted'), count(decided, 'refused')]).toEqual([20, 40]);
  });

  it('is not ready and decides nothing while Redis is unavailable, and recovers automatically', async () => {
    await open();
    await server.kill();
    await eventually('both to be not ready', async () =>
      (await readiness()).some(Boolean) ? undefined : true,
    );
    expect(await outcomes([request(5), request(5)])).toEqual(['undecided', 'undecided']);
    await server.start();
    await eventually('both to be ready again', async () =>
      (await readiness()).every(Boolean) ? true : undefined,
    );
    expect(await outcomes([request(5), request(5)])).toEqual(['admitted', 'admitted']);
  });

  it.each([
    ['is demoted to a replica', 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'],
    ['has no memory left', 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'],
    [
      'lacks the replicas that writes need',
      'CONFIG SET min-replicas-to-write 1',
      'CONFIG SET min-replicas-to-write 0',
    ],
  ])('is not ready while Redis responds and %s, and logs that a few times only', async (_, start, end) => {
    await open();
    await server.command(...start.split(' '));
    await eventually('both to be not ready', async () =>
      (await readiness()).some(Boolean) ? undefined : true,
    );
    const decided = await outcomes(Array.from({ length: 200 }, () => request(1_000)));
    expect(count(decided, 'undecided')).toBe(200);
    expect(warnings.length).toBeLessThan(20);
    await server.command(...end.split(' '));
    await eventually('both to be ready again', async () =>
      (await readiness()).every(Boolean) ? true : undefined,
    );
    expect(await outcomes([request(5), request(5)])).toEqual(['admitted', 'admitted']);
  });

  it('waits for Redis as long as REDIS_COMMAND_TIMEOUT_MS says', async () => {
    await open({ REDIS_COMMAND_TIMEOUT_MS: '1400' });
    await server.command('CLIENT', 'PAUSE', '700');
    expect(await outcomes([request(5)])).toEqual(['admitted']);
  });

  it('admits its share while Redis is unavailable when so configured, and stays ready', async () => {
    await open({ GATEWAY_LIMITS_WITHOUT_REDIS: 'share', GATEWAY_RATE_LIMIT_REPLICAS: '2' });
    await server.kill();
    const decided = await outcomes(Array.from({ length: 40 }, () => request(10)));
    expect(count(decided, 'undecided')).toBe(0);
    expect(count(decided, 'admitted')).toBe(10);
    expect(await readiness()).toEqual([true, true]);
  });
});
