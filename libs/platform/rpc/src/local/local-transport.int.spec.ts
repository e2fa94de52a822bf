import { describeRpcTransport } from '../rpc.contract';
import { createLocalServer } from './local-server';
import { createLocalTransport } from './local-transport';
import { scratchSocket } from './testing/scratch-socket';

describeRpcTransport('over a Unix socket', 'bytes', async (services, options) => {
  const socket = await scratchSocket();
  const { path } = socket;
  const server = createLocalServer({ services, path, drainMs: 100, ...options });
  await server.start();
  const transport = createLocalTransport({ path, ...options });
  return {
    transport,
    close: async () => {
      transport.close();
      await server.stop();
      await socket.remove();
    },
  };
});
