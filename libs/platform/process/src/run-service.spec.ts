import { once } from 'node:events';
import { findFreePort } from '@gateway/database';
import { createReplicatedTransport } from '@gateway/rpc/grpc';
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthDefinition,
} from '@gateway/contracts/health';
import { createClient } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import type { GatewayModule } from '@gateway/module';
import { z } from 'zod';
import { createService, runService, type RunningService } from './run-service';
import { serviceSettings, type ServiceConfig } from './settings';

const config = async (): Promise<ServiceConfig> =>
  z.object(serviceSettings).parse({
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_RPC_PORT: await findFreePort(),
    GATEWAY_ADMIN_PORT: await findFreePort(),
    GATEWAY_SHUTDOWN_GRACE_MS: 5_000,
    LOG_LEVEL: 'silent',
  });

describe('a service', () => {
  let service: RunningService;
  let settings: ServiceConfig;
  let told: string[];

  const module = (name: string, more: Partial<GatewayModule> = {}): GatewayModule => ({
    name,
    services: [],
    consumers: [],
    start: async () => void told.push(`start ${name}`),
    stop: async () => void told.push(`stop ${name}`),
    ...more,
  });

  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${settings.GATEWAY_ADMIN_PORT}${path}`)).status;

  beforeEach(async () => {
    settings = await config();
    told = [];
  });
  afterEach(() => service.stop());

  const create = (wire: Parameters<typeof createService<ServiceConfig>>[0]['wire']) =>
    createService({ name: 'test', config: settings, log: createSilentLogger(), wire });

  it('is alive while it waits for what it stands on, and ready once it is there', async () => {
    let database: 'away' | 'there' = 'away';
    let tries = 0;
    service = create(async ({ awaitDependency }) => {
      await awaitDependency('the database', async () => {
        tries += 1;
        if (database === 'away') throw new Error('connection refused');
      });
      return { modules: [module('a')] };
    });
    const started = service.start();
    await eventually('several tries', async () => (tries >= 2 ? true : undefined));
    expect(await statusOf('/livez')).toBe(200);
    expect(await statusOf('/readyz')).toBe(503);
    database = 'there';
    await started;
    expect(await statusOf('/readyz')).toBe(200);
  });

  it('gives up waiting when it is stopped', async () => {
    service = create(async ({ awaitDependency }) => {
      await awaitDependency('the database', () => Promise.reject(new Error('away')));
      return { modules: [] };
    });
    const started = service.start().catch((error: Error) => error.message);
    await eventually('the admin server', async () =>
      (await statusOf('/livez').catch(() => 0)) === 200 ? true : undefined,
    );
    await service.stop();
    expect(await started).toBe('the service stops');
  });

  it('is ready only while its modules and what they stand on are', async () => {
    let moduleReady = false;
    let redisAnswers = true;
    service = create(async () => ({
      modules: [module('a', { isReady: () => moduleReady })],
      ready: () => redisAnswers,
    }));
    await service.start();
    expect(await statusOf('/readyz')).toBe(503);
    moduleReady = true;
    expect(await statusOf('/readyz')).toBe(200);
    redisAnswers = false;
    expect(await statusOf('/readyz')).toBe(503);
  });

  it('ends streams that never would with their module, and closes what they used last', async () => {
    const ending = new AbortController();
    let watching = (): void => undefined;
    const watched = new Promise<void>((resolve) => (watching = resolve));
    const watch = {
      definition: { ...HealthDefinition, fullName: 'gateway.test.v1.Watch' },
      handlers: {
        check: async () => ({ status: ServingStatus.SERVING }),
        watch: async function* () {
          watching();
          yield { status: ServingStatus.SERVING };
          if (!ending.signal.aborted) await once(ending.signal, 'abort');
          told.push('the watch ends');
        },
      },
    };
    service = create(async ({ life }) => {
      life.onStop(async () => void told.push('the pool closes'));
      const stop = async () => {
        told.push('stop a');
        ending.abort();
      };
      return { modules: [module('a', { services: [watch as never], stop })] };
    });
    await service.start();
    const transport = createReplicatedTransport({ target: `127.0.0.1:${settings.GATEWAY_RPC_PORT}` });
    const read = (async () => {
      for await (const _ of createClient(watch.definition, transport).watch({ service: '' }));
    })();
    await watched;
    await service.stop();
    await read;
    transport.close();
    expect(told.slice(0, 3)).toEqual(['start a', 'stop a', 'the watch ends']);
    expect(told.at(-1)).toBe('the pool closes');
  });
});

describe('a command of a service', () => {
  const exitCode = process.exitCode;
  let written: string[];
  beforeEach(() => {
    written = [];
    for (const stream of [process.stdout, process.stderr]) {
      jest.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    }
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.exitCode = exitCode;
  });

  async function run(args: readonly string[], greet: (name: string) => Promise<string>): Promise<string> {
    const exited = jest.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exited');
    });
    const values = await config();
    const options = {
      name: 'test',
      loadConfig: () => values,
      wire: async () => ({ modules: [] }),
      commands: { greet: { argument: 'NAME', run: (_: unknown, name: string) => greet(name) } },
    };
    try {
      runService(options, args);
    } catch {
      expect(exited).toHaveBeenCalledWith(2);
    }
    return eventually('something written', async () => written.join('') || undefined);
  }

  it('prints what it has to say, instead of serving', async () => {
    expect(await run(['greet', 'Ada'], async (name) => `Hello ${name}`)).toBe('Hello Ada\n');
    expect(process.exitCode).toBe(exitCode);
  });

  it('says what went wrong, and fails', async () => {
    expect(await run(['greet', 'Ada'], () => Promise.reject(new Error('no voice')))).toBe('no voice\n');
    expect(process.exitCode).toBe(1);
  });

  it.each([[['greet']], [['greet', 'Ada', 'Bob']], [['toString', 'Ada']]])(
    'tells how it is used: %p',
    async (args) => {
      expect(await run(args, async () => '')).toContain('Usage: test [--check-config | greet NAME]');
    },
  );
});
