import { once } from 'node:events';
import { get } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { bounded } from './bounded';

it('work that Docker never finishes is given up, and its connection is closed', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const call = bounded('pulling redis:7', 300, () => once(get({ host: '127.0.0.1', port }), 'response'));
  // Handled below.
  call.catch(() => undefined);
  const [socket] = await connected;
  const closed = once(socket, 'close');
  await expect(call).rejects.toThrow(/pulling redis:7 took longer than 300 ms.*GATEWAY_TEST_ENGINES=local/);
  await closed;
  server.close();
});

it('an error of Docker is passed on unchanged', async () => {
  const error = new Error('no such image');
  await expect(bounded('pulling', 1_000, () => Promise.reject(error))).rejects.toBe(error);
});
