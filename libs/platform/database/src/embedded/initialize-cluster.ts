import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DatabaseLog } from '../log';
import type { Binaries } from './binaries';
import { EmbeddedPostgresError } from './postgres-error';
import type { ServerHome } from './server-home';
import { changeOwner } from './server-user';

const run = promisify(execFile);

/** The server's superuser, which is used only to set up the server. */
export const SUPERUSER = 'gateway';

const PASSWORD_BYTES = 32;
const INITDB_TIMEOUT_MS = 120_000;

/** A fixed environment for the server's programs, independent of this process's environment. */
export const CHILD_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };

/** A role's password, created once and stored in the state folder with mode 0600. */
export async function readOrCreatePassword(stateDirectory: string, name: string): Promise<string> {
  const file = join(stateDirectory, name);
  const existing = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (existing) return existing;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const partial = `${file}.partial`;
  await rm(partial, { force: true });
  await writeFile(partial, `${password}\n`, { mode: 0o600, flush: true });
  await rename(partial, file);
  return password;
}

/**
 * Creates the data directory unless it exists. Creates it under a temporary name
 * and renames it, so that a crash leaves no incomplete data directory.
 */
export async function initializeCluster(
  home: ServerHome,
  binaries: Binaries,
  password: string,
  log: DatabaseLog,
): Promise<void> {
  const existing = await stat(home.dataDirectory).catch(() => undefined);
  if (existing) {
    // For example a backup that was restored by root.
    if (home.user && existing.uid === 0) await changeOwner(home.user, home.dataDirectory);
    return;
  }
  log.info({ dataDirectory: home.dataDirectory }, 'creating the database');
  const partial = join(home.directory, 'data.partial');
  const passwordFile = join(home.directory, 'initial-password');
  await rm(partial, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (home.user) await chown(passwordFile, home.user.uid, home.user.gid);
    await runInitdb(home, binaries, partial, passwordFile);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(partial, home.dataDirectory);
}

async function runInitdb(home: ServerHome, binaries: Binaries, target: string, passwordFile: string) {
  const options = [
    `--pgdata=${target}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ];
  try {
    await run(binaries.initdb, options, {
      ...home.user,
      cwd: home.directory,
      env: CHILD_ENVIRONMENT,
      timeout: INITDB_TIMEOUT_MS,
    });
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    const output = (error as { stderr?: string }).stderr?.trim();
    const reason = output || (error instanceof Error ? error.message : String(error));
    throw new EmbeddedPostgresError(
      `the database could not be created: ${reason}; if PostgreSQL cannot run here, set DATABASE_URL`,
      { cause: error },
    );
  }
}
