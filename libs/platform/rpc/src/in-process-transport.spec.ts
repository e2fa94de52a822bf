import { bindService } from './bound-service';
import { HealthDefinition } from './grpc/health';
import { createInProcessTransport } from './in-process-transport';
import { describeRpcTransport } from './rpc.contract';

describeRpcTransport('in process', 'messages', async (services, { log }) => ({
  transport: createInProcessTransport(services, { log }),
  close: async () => undefined,
}));

describe('the in-process transport', () => {
  it('does not accept one service twice', () => {
    const service = bindService(HealthDefinition, {
      check: async () => ({ status: 1 }),
      watch: async function* () {},
    });
    expect(() => createInProcessTransport([service, service])).toThrow(
      'grpc.health.v1.Health is served twice',
    );
  });
});
