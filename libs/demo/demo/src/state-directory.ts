import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@gateway/runtime';

/**
 * Makes the state folder unless it is there, and tries to write in it, so that
 * a folder that cannot be used is told by its name before anything is started.
 *
 * @throws ConfigError
 */
export function openStateDirectory(stateDirectory: string): void {
  const probe = path.join(stateDirectory, `.writable.${process.pid}`);
  try {
    mkdirSync(stateDirectory, { recursive: true });
    // A full disk takes an empty file, so it holds something.
    writeFileSync(probe, 'x', { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What a full disk left of it; where there never was one, this fails as well.
    unlinkQuietly(probe);
    throw new ConfigError([
      `GATEWAY_STATE_DIR: the gateway cannot write in ${stateDirectory} (${code ?? String(error)})`,
    ]);
  }
}

function unlinkQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The reason that is told is the first one.
  }
}
