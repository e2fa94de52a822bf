import { lstat, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';

/** What the address of a Unix socket has room for; Node cuts off the rest without a word. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** @throws when no socket can have this path. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > 0 && bytes <= MAX_PATH_BYTES && !path.includes('\0')) return;
  throw new Error(
    `the path of a local socket has ${bytes} bytes, and may have ${MAX_PATH_BYTES}: ${JSON.stringify(path)}`,
  );
}

/**
 * Removes the socket that a dead process left behind.
 *
 * @returns whether there was one; false when somebody listens on it, or it is no socket.
 */
export async function removeStaleSocket(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isSocket() || (await isListening(path))) return false;
  await unlink(path).catch(() => undefined);
  return true;
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}
