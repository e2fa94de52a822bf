import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP relay between client and server that can be frozen or broken. */
export interface TcpRelay {
  readonly address: string;
  /** Forwards nothing, while connections stay open and new ones are accepted. */
  freeze(): void;
  /** Forwards delayed and new data. */
  resume(): void;
  /** Ends all connections. */
  reset(): void;
  close(): Promise<void>;
}

export async function startTcpRelay(toPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let frozen = false;
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
      if (frozen) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    resume: () => {
      frozen = false;
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
