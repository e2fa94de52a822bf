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
    GATEWAY_RPC_ADMIN_PORT: await findFreePort(),
    GATEWAY_ADMIN_PORT: await findFreePort(),
    GATEWAY_RPC_SECURITY: 'plaintext',
    GATEWAY_SHUTDOWN_GRACE_MS: 5_000,
    LOG_LEVEL: 'silent',
  });

describe('a service', () => {
  let service: RunningService;
  let settings: ServiceConfig;
  let events: string[];

  const module = (name: string, more: Partial<GatewayModule> = {}): GatewayModule => ({
    name,
    services: [],
    consumers: [],
    start: async () => void events.push(`start ${name}`),
    stop: async () => void events.push(`stop ${name}`),
    ...more,
  });

  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${settings.GATEWAY_ADMIN_PORT}${path}`)).status;

  beforeEach(async () => {
    settings = await config();
    events = [];
  });
  afterEach(() => service.stop());

  const create = (wire: Parameters<typeof createService<ServiceConfig>>[0]['wire']) =>
    createService({ name: 'test', config: settings, log: createSilentLogger(), wire });

  it('is alive while it waits for a dependency, and ready once that is available', async () => {
    let isDatabaseUp = false;
    let attempts = 0;
    service = create(async ({ awaitDependency }) => {
      await awaitDependency('the database', async () => {
        attempts += 1;
        if (!isDatabaseUp) throw new Error('connection refused');
      });
      return { modules: [module('a')] };
    });
    const started = service.start();
    await eventually('several attempts', async () => (attempts >= 2 ? true : undefined));
    expect(await statusOf('/livez')).toBe(200);
    expect(await statusOf('/readyz')).toBe(503);
    isDatabaseUp = true;
    await started;
    expect(await statusOf('/readyz')).toBe(200);
  });

  it('stops waiting for a dependency when it is stopped', async () => {
    service = create(async ({ awaitDependency }) => {
      await awaitDependency('the database', () => Promise.reject(new Error('unavailable')));
      return { modules: [] };
    });
    const started = service.start().catch((error: Error) => error.message);
    await eventually('the admin server', async () =>
      (await statusOf('/livez').catch(() => 0)) === 200 ? true : undefined,
    );
    // The process stops it once the start has finished.
    service.abortStart();
    expect(await started).toBe('the service is stopping');
    await service.stop();
  });

  it('is ready only while its modules and their dependencies are', async () => {
    let moduleReady = false;
    let isRedisUp = true;
    service = create(async () => ({
      modules: [module('a', { isReady: () => moduleReady })],
      ready: () => isRedisUp,
    }));
    await service.start();
    expect(await statusOf('/readyz')).toBe(503);
    moduleReady = true;
    expect(await statusOf('/readyz')).toBe(200);
    isRedisUp = false;
    expect(await statusOf('/readyz')).toBe(503);
  });

  it('ends unlimited streams with their module, and closes shared resources last', async () => {
    const ending = new AbortController();
    let watching = (): void => undefined;
    const watched = new Promise<void>((resolve) => (watching = resolve));
    const watch = {
      definition: { ...HealthDefinition, fullName: 'gateway.auth.v1.Auth' },
      handlers: {
        check: async () => ({ status: ServingStatus.SERVING }),
        watch: async function* () {
          watching();
          yield { status: ServingStatus.SERVING };
          if (!ending.signal.aborted) await once(ending.signal, 'abort');
          events.push('the watch ends');
        },
      },
    };
    service = create(async ({ life }) => {
      life.onStop(async () => void events.push('the pool closes'));
      const stop = async () => {
        events.push('stop a');
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
    expect(events.slice(0, 3)).toEqual(['start a', 'stop a', 'the watch ends']);
    expect(events.at(-1)).toBe('the pool closes');
  });

  it('finishes calls before it closes shared resources, also when a module fails to stop', async () => {
    let entered = (): void => undefined;
    const running = new Promise<void>((resolve) => (entered = resolve));
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const check = {
      definition: { ...HealthDefinition, fullName: 'gateway.auth.v1.Auth' },
      handlers: {
        check: async () => {
          entered();
          await finished;
          events.push('the call ends');
          return { status: ServingStatus.SERVING };
        },
      },
    };
    service = create(async ({ life }) => {
      life.onStop(async () => void events.push('the pool closes'));
      const stop = async () => {
        events.push('stop a');
        throw new Error('stuck');
      };
      return { modules: [module('a', { services: [check as never], stop })] };
    });
    await service.start();
    const transport = createReplicatedTransport({ target: `127.0.0.1:${settings.GATEWAY_RPC_PORT}` });
    const call = createClient(check.definition, transport).check({ service: '' });
    await running;
    const stopped = service.stop();
    await eventually('the stop of the module', async () => events.includes('stop a') || undefined);
    // Time for a stop that does not wait for the call.
    await statusOf('/livez').catch(() => 0);
    finish();
    await call;
    await stopped;
    transport.close();
    expect(events.filter((event) => event !== 'stop a')).toEqual([
      'start a',
      'the call ends',
      'the pool closes',
    ]);
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

  it('prints its result instead of serving', async () => {
    expect(await run(['greet', 'Ada'], async (name) => `Hello ${name}`)).toBe('Hello Ada\n');
    expect(process.exitCode).toBe(exitCode);
  });

  it('prints the error and fails', async () => {
    expect(await run(['greet', 'Ada'], () => Promise.reject(new Error('no voice')))).toBe('no voice\n');
    expect(process.exitCode).toBe(1);
  });

  it.each([[['greet']], [['greet', 'Ada', 'Bob']], [['toString', 'Ada']]])(
    'prints its usage: %p',
    async (args) => {
      expect(await run(args, async () => '')).toContain('Usage: test [--check-config | greet NAME]');
    },
  );
});
