import { createServer, type AddressInfo, type Server } from 'node:net';
// Jest's global setup does not support the workspace's import aliases, so this imports by path.
// eslint-disable-next-line @nx/enforce-module-boundaries
import { startPostgres, type PostgresServer } from '../../dev-infra/src/postgres';

/**
 * One PostgreSQL server for all test files of a jest run. It belongs to jest's main
 * process, starts when the first test file needs it, and is removed with its folder when
 * the run ends, even after an interrupt or a kill.
 */
export interface SharedPostgres {
  /** Port on which test files request the server's URL. */
  readonly port: number;
  stop(): Promise<void>;
}

/** Durability is off for speed; tests of crash recovery start their own server. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_connections: '300',
};

export async function provideSharedPostgres(): Promise<SharedPostgres> {
  let running: Promise<PostgresServer> | undefined;
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    running ??= startPostgres({ settings: SETTINGS });
    running.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  const port = await listen(listener);
  listener.unref();
  return {
    port,
    async stop() {
      listener.close();
      await (await running?.catch(() => undefined))?.stop();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
