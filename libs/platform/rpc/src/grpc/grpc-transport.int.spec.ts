import { describeRpcTransport } from '../rpc.contract';
import { createGrpcServer } from './grpc-server';
import { createGrpcTransport } from './grpc-transport';

describeRpcTransport('over gRPC', 'bytes', async (services, options) => {
  const server = createGrpcServer({ services, host: '127.0.0.1', port: 0, drainMs: 100, ...options });
  const { port } = await server.start();
  const transport = createGrpcTransport({ address: `127.0.0.1:${port}`, ...options });
  return {
    transport,
    close: async () => {
      transport.close();
      await server.stop();
    },
  };
});
