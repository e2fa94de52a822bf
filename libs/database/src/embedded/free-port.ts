import { createServer, type AddressInfo } from 'node:net';

/** A port of the loopback interface that was free a moment ago: the preferred one if it is, else any. */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined) {
    const port = await tryPort(preferred).catch(() => undefined);
    if (port !== undefined) return port;
  }
  return tryPort(0);
}

function tryPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const { port: found } = server.address() as AddressInfo;
      server.close(() => resolve(found));
    });
  });
}
