import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A network between a caller and a server that can be made to swallow everything, or to break. */
export interface TcpRelay {
  readonly address: string;
  /** Connections stay and new ones are taken, but nothing gets through. */
  silence(): void;
  /** What was held back arrives, as after a pause. */
  restore(): void;
  /** Ends all connections. */
  reset(): void;
  close(): Promise<void>;
}

export async function startTcpRelay(toPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port: toPort });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (silent) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence: () => {
      silent = true;
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      silent = false;
      for (const socket of sockets) socket.resume();
    },
    reset: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
