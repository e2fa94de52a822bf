import type { AddressInfo, Server } from 'node:net';

/** A role that listens on loopback. */
export interface RunningRole {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a free port. @param onClose closes open connections */
export async function listen(server: Server, onClose: () => void): Promise<RunningRole> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', 16_384, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        onClose();
      }),
  };
}
