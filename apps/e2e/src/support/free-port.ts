import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that systems give to whoever asks for any port, which somebody could be given meanwhile. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** One that nobody listens on now, for what has to know its port before it starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
