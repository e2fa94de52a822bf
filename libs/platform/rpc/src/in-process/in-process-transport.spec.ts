import { createClient } from '../client';
import { bindService } from '../definition';
import { HealthDefinition } from '@gateway/contracts/health';
import { createInProcessTransport } from './in-process-transport';
import { describeRpcTransport } from '../rpc.contract';

describeRpcTransport('in process', 'messages', async (services, { log }) => ({
  transport: createInProcessTransport(services, { log }),
  close: async () => undefined,
}));

describe('the in-process transport', () => {
  describe('deadlines', () => {
    const clientOf = (check: () => Promise<{ status: number }>) =>
      createClient(
        HealthDefinition,
        createInProcessTransport([bindService(HealthDefinition, { check, watch: async function* () {} })]),
      );

    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    it('leave no timers after their calls', async () => {
      const client = clientOf(async () => ({ status: 1 }));
      const calls = Array.from({ length: 100 }, () => client.check({ service: '' }, { timeoutMs: 5_000 }));
      expect(jest.getTimerCount()).toBe(100);
      await Promise.all(calls);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('may be longer than the longest timer', async () => {
      const client = clientOf(() => new Promise(() => undefined));
      let failure: unknown;
      client.check({ service: '' }, { timeoutMs: 2 ** 32 }).catch((error: unknown) => (failure = error));
      await jest.advanceTimersByTimeAsync(2 ** 31 - 2);
      expect(failure).toBeUndefined();
    });
  });

  it('rejects a service that is given twice', () => {
    const service = bindService(HealthDefinition, {
      check: async () => ({ status: 1 }),
      watch: async function* () {},
    });
    expect(() => createInProcessTransport([service, service])).toThrow(
      'grpc.health.v1.Health is served twice',
    );
  });
});
