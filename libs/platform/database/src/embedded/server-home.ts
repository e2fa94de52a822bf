import { access, chmod, chown, constants, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseLog } from '../log';
import { EmbeddedPostgresError } from './postgres-error';
import { canEnter, chooseServerUser, type ServerUser } from './server-user';

/** The folder of a server and the user that runs it. */
export interface ServerHome {
  /** Contains the data and, if needed, a copy of the programs. The server's user can enter it. */
  readonly directory: string;
  readonly dataDirectory: string;
  /** Undefined if the server runs as the current user. */
  readonly user: ServerUser | undefined;
}

/** Contains the path of a home outside the state folder. */
const POINTER_FILE = 'postgres-location';

/** Parent folders for a home outside the state folder: persistent, and accessible to all users. */
const OUTSIDE_DIRECTORIES = ['/var/lib', '/opt', '/srv', '/var/tmp'];

/**
 * Finds or creates the server's home. It is in the state folder, unless this
 * process is root and the unprivileged user that runs the server cannot enter the
 * state folder, for example below /root. Then it is outside, and a file in the
 * state folder contains its path.
 */
export async function openServerHome(
  stateDirectory: string,
  log: DatabaseLog,
  outsideDirectories: readonly string[] = OUTSIDE_DIRECTORIES,
): Promise<ServerHome> {
  const inside = join(stateDirectory, 'postgres');
  const pointer = join(stateDirectory, POINTER_FILE);
  const outside = (await readFile(pointer, 'utf8').catch(() => '')).trim();
  const directory = outside || inside;
  const user = await chooseServerUser(join(directory, 'data'));
  if (outside) {
    await assertExists(outside, pointer);
  } else {
    await mkdir(inside, { recursive: true, mode: 0o700 });
    if (user) await chown(inside, user.uid, user.gid);
    if (user && !(await canEnter(user, inside))) {
      await assertNoData(inside);
      return homeAt(await createOutside(stateDirectory, pointer, user, outsideDirectories, log), user);
    }
  }
  return homeAt(directory, user);
}

function homeAt(directory: string, user: ServerUser | undefined): ServerHome {
  return { directory, dataDirectory: join(directory, 'data'), user };
}

async function createOutside(
  stateDirectory: string,
  pointer: string,
  user: ServerUser,
  candidates: readonly string[],
  log: DatabaseLog,
): Promise<string> {
  for (const base of candidates) {
    const writable = await access(base, constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!writable || !(await canEnter(user, base))) continue;
    const directory = await mkdtemp(join(base, 'inference-gateway-'));
    await writeFile(join(directory, 'BELONGS_TO'), `${stateDirectory}\n`);
    await writeFile(pointer, `${directory}\n`, { mode: 0o600 });
    await chmod(directory, 0o700);
    await chown(directory, user.uid, user.gid);
    log.info(
      { stateDirectory, directory },
      'the unprivileged user that runs PostgreSQL cannot enter the state folder: its data is stored outside',
    );
    return directory;
  }
  throw new EmbeddedPostgresError(
    `the unprivileged user that must run PostgreSQL (uid ${user.uid}) cannot enter ${stateDirectory}, ` +
      'and no other folder was found; use a state folder that all users can enter, or set DATABASE_URL',
  );
}

/** Starting with an empty database instead would look like data loss. */
async function assertExists(outside: string, pointer: string): Promise<void> {
  if (await stat(outside).catch(() => undefined)) return;
  throw new EmbeddedPostgresError(
    `the database folder in ${pointer} does not exist: ${outside}; restore it, or delete that file to start with an empty database`,
  );
}

async function assertNoData(inside: string): Promise<void> {
  if (!(await stat(join(inside, 'data')).catch(() => undefined))) return;
  throw new EmbeddedPostgresError(
    `the unprivileged user that runs PostgreSQL can no longer enter ${inside}; allow access to its parent folders ` +
      '(chmod o+x), or start as the user that owns it',
  );
}
