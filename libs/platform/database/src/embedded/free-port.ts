import { createServer } from 'node:net';

/** Below those from which systems take the ports of outgoing connections. */
const FIRST = 15_000;
const LAST = 32_000;

/**
 * A port of the loopback interface that nobody listens on: the preferred one
 * if it is free, else one that no outgoing connection takes by chance before
 * its server starts, or while it is away. Of the latter never the same twice.
 */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

const given = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
