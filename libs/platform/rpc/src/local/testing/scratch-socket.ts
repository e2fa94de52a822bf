import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ScratchSocket {
  /** For a Unix socket, in a folder of its own. */
  readonly path: string;
  remove(): Promise<void>;
}

export async function scratchSocket(): Promise<ScratchSocket> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-test-rpc-'));
  return {
    path: join(directory, 'rpc.sock'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
