import { createSilentLogger } from '@gateway/runtime';
import type { GatewayModule } from './gateway-module';
import { createLifecycle } from './lifecycle';

const lifecycle = () => createLifecycle({ log: createSilentLogger() });

function moduleNamed(name: string, events: string[], failing?: 'start' | 'stop'): GatewayModule {
  const record = async (what: 'start' | 'stop') => {
    events.push(`${what} ${name}`);
    if (what === failing) throw new Error(`${name} cannot ${what}`);
  };
  return {
    name,
    services: [],
    consumers: [{ topic: `${name}.happened`, group: name, handle: async () => undefined }],
    start: () => record('start'),
    stop: () => record('stop'),
  };
}

describe('the lifecycle', () => {
  it('starts in order and stops in reverse', async () => {
    const events: string[] = [];
    const life = lifecycle();
    life.onStop(async () => void events.push('stop database'));
    await life.startModules([moduleNamed('auth', events), moduleNamed('edge', events)]);
    await life.stop();
    expect(events).toEqual(['start auth', 'start edge', 'stop edge', 'stop auth', 'stop database']);
  });

  it('stops all started modules, including the module that failed to start', async () => {
    const events: string[] = [];
    const life = lifecycle();
    const modules = [
      moduleNamed('auth', events),
      moduleNamed('edge', events, 'start'),
      moduleNamed('last', events),
    ];
    await expect(life.startModules(modules)).rejects.toThrow('edge cannot start');
    await life.stop();
    expect(events).toEqual(['start auth', 'start edge', 'stop edge', 'stop auth']);
  });

  it('stops the others when one fails to stop', async () => {
    const events: string[] = [];
    const life = lifecycle();
    await life.startModules([moduleNamed('auth', events), moduleNamed('edge', events, 'stop')]);
    await life.stop();
    expect(events).toContain('stop auth');
  });

  it('stops everything once, even if called repeatedly', async () => {
    const events: string[] = [];
    const life = lifecycle();
    await life.startModules([moduleNamed('auth', events)]);
    await Promise.all([life.stop(), life.stop()]);
    expect(events).toEqual(['start auth', 'stop auth']);
  });

  it('subscribes every consumer group of every module', async () => {
    const groups: string[] = [];
    const subscriber = {
      subscribe: async ({ topic, group }: { topic: string; group: string }) => {
        groups.push(`${group} reads ${topic}`);
        return { stop: async () => undefined };
      },
    };
    await lifecycle().subscribe([moduleNamed('ledger', []), moduleNamed('usage', [])], subscriber);
    expect(groups).toEqual(['ledger reads ledger.happened', 'usage reads usage.happened']);
  });
});
