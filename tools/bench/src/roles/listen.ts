import { type AddressInfo, type Server } from 'node:net';

/** Listens on a free port and tells the parent process which. Ends with the parent. */
export async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', 2_048, resolve);
  });
  process.once('disconnect', () => process.exit(0));
  process.send?.({ port: (server.address() as AddressInfo).port });
}
