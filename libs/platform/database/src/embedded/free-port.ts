import { createServer } from 'node:net';

/** Below the ephemeral range, so that no outgoing connection uses the port before its server starts. */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;

/** A free port of the loopback interface: the preferred one, or a random one that was not returned before. */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (taken.has(port)) continue;
    // Before the check, so that concurrent calls do not check the same port.
    taken.add(port);
    if (await isFree(port)) return port;
  }
}

/** Returned or found in use. */
const taken = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
