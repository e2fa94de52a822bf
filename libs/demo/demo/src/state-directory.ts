import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '@gateway/runtime';

/**
 * Creates the state folder if it is missing, and checks that it is writable before any service starts.
 *
 * @throws ConfigError
 */
export function openStateDirectory(stateDirectory: string): void {
  const probe = path.join(stateDirectory, `.writable.${process.pid}`);
  try {
    mkdirSync(stateDirectory, { recursive: true });
    // Not empty: an empty file can be created on a full disk.
    writeFileSync(probe, 'x', { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A full disk may leave an empty probe.
    removeQuietly(probe);
    throw new ConfigError([
      `GATEWAY_STATE_DIR: the gateway cannot write to ${stateDirectory} (${code ?? String(error)})`,
    ]);
  }
}

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The first error is reported.
  }
}
