import { createSilentLogger } from '@gateway/runtime';
import type { GatewayModule } from './gateway-module';
import { createLifecycle } from './lifecycle';

const lifecycle = () => createLifecycle({ log: createSilentLogger() });

function moduleCalled(name: string, told: string[], failing?: 'start' | 'stop'): GatewayModule {
  const tell = async (what: 'start' | 'stop') => {
    told.push(`${what} ${name}`);
    if (what === failing) throw new Error(`${name} cannot ${what}`);
  };
  return {
    name,
    services: [],
    consumers: [{ topic: `${name}.happened`, group: name, handle: async () => undefined }],
    start: () => tell('start'),
    stop: () => tell('stop'),
  };
}

describe('the lifecycle', () => {
  it('starts in order and stops in reverse', async () => {
    const told: string[] = [];
    const life = lifecycle();
    life.onStop(async () => void told.push('stop database'));
    await life.startModules([moduleCalled('auth', told), moduleCalled('edge', told)]);
    await life.stop();
    expect(told).toEqual(['start auth', 'start edge', 'stop edge', 'stop auth', 'stop database']);
  });

  it('stops what was started, the module that failed to start included', async () => {
    const told: string[] = [];
    const life = lifecycle();
    const modules = [
      moduleCalled('auth', told),
      moduleCalled('edge', told, 'start'),
      moduleCalled('last', told),
    ];
    await expect(life.startModules(modules)).rejects.toThrow('edge cannot start');
    await life.stop();
    expect(told).toEqual(['start auth', 'start edge', 'stop edge', 'stop auth']);
  });

  it('goes on stopping when something does not stop cleanly', async () => {
    const told: string[] = [];
    const life = lifecycle();
    await life.startModules([moduleCalled('auth', told), moduleCalled('edge', told, 'stop')]);
    await life.stop();
    expect(told).toContain('stop auth');
  });

  it('stops everything once, however often it is asked', async () => {
    const told: string[] = [];
    const life = lifecycle();
    await life.startModules([moduleCalled('auth', told)]);
    await Promise.all([life.stop(), life.stop()]);
    expect(told).toEqual(['start auth', 'stop auth']);
  });

  it('subscribes every consumer group of every module', async () => {
    const groups: string[] = [];
    const subscriber = {
      subscribe: async ({ topic, group }: { topic: string; group: string }) => {
        groups.push(`${group} reads ${topic}`);
        return { stop: async () => undefined };
      },
    };
    await lifecycle().subscribe([moduleCalled('ledger', []), moduleCalled('usage', [])], subscriber);
    expect(groups).toEqual(['ledger reads ledger.happened', 'usage reads usage.happened']);
  });
});
