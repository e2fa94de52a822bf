import { createClient } from '../client';
import { bindService, type BoundService } from '../definition';
import { HealthDefinition } from '@gateway/contracts/health';
import { GenerateRequest, InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { createInProcessTransport } from './in-process-transport';
import { describeRpcTransport } from '../rpc.contract';
import { isRpcPermissionDenied } from '../rpc-error';

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

  describe('with a caller', () => {
    const called: string[] = [];
    const service: BoundService = {
      definition: InferenceRouterDefinition,
      handlers: {
        watchCatalogue: async function* () {
          called.push('watchCatalogue');
        },
        generate: async function* () {
          called.push('generate');
        },
      },
    };
    const limits: BoundService = {
      definition: RateLimitDefinition,
      handlers: { finish: async () => (called.push('finish'), {}) },
    };
    const failureOf = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      );
    async function failures(caller: string) {
      called.splice(0);
      const transport = createInProcessTransport([service, limits], { caller });
      const router = createClient(InferenceRouterDefinition, transport);
      const stream = router.generate(GenerateRequest.fromPartial({}));
      return [
        await failureOf(stream[Symbol.asyncIterator]().next()),
        await failureOf(createClient(RateLimitDefinition, transport).finish({ admissions: [] })),
      ];
    }

    it('serves the methods whose contract names it', async () => {
      expect(await failures('edge-proxy')).toEqual([undefined, undefined]);
      expect(called).toEqual(['generate', 'finish']);
    });

    it.each(['dashboard-api', 'rate-limit', 'demo', ''])('refuses other methods to "%s"', async (caller) => {
      expect((await failures(caller)).map(isRpcPermissionDenied)).toEqual([true, true]);
      expect(called).toEqual([]);
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
