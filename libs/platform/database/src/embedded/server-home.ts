import { access, chmod, chown, constants, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseLog } from '../log';
import { EmbeddedPostgresError } from './postgres-error';
import { canEnter, chooseServerUser, type ServerUser } from './server-user';

/** Where a server lives and as whom. */
export interface ServerHome {
  /** Holds the data and, when needed, a copy of the programs; the server's user can enter it. */
  readonly directory: string;
  readonly dataDirectory: string;
  /** Undefined when the server runs as we do. */
  readonly user: ServerUser | undefined;
}

/** Names the home when it had to be made outside the state folder. */
const POINTER_FILE = 'postgres-location';

/** Places for a home outside the state folder: they survive a reboot and everyone may enter them. */
const OUTSIDE_DIRECTORIES = ['/var/lib', '/opt', '/srv', '/var/tmp'];

/**
 * Finds or makes the server's home: in the state folder, unless we are root and
 * the unprivileged user that must run the server cannot get there (the folder
 * lies below /root or another closed one). Then it lies outside, under a name
 * kept in the state folder, so that the next start finds it again.
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
    await assertStillThere(outside, pointer);
  } else {
    await mkdir(inside, { recursive: true, mode: 0o700 });
    if (user) await chown(inside, user.uid, user.gid);
    if (user && !(await canEnter(user, inside))) {
      await assertNoData(inside);
      return homeAt(await makeOutside(stateDirectory, pointer, user, outsideDirectories, log), user);
    }
  }
  return homeAt(directory, user);
}

function homeAt(directory: string, user: ServerUser | undefined): ServerHome {
  return { directory, dataDirectory: join(directory, 'data'), user };
}

async function makeOutside(
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
      'the state folder is closed to the unprivileged user that runs PostgreSQL: its data lives outside',
    );
    return directory;
  }
  throw new EmbeddedPostgresError(
    `the unprivileged user that must run PostgreSQL (uid ${user.uid}) cannot enter ${stateDirectory}, ` +
      'and no other place was found; use a state folder that everyone may enter, or set DATABASE_URL',
  );
}

/** Starting empty instead would look like the loss of all data. */
async function assertStillThere(outside: string, pointer: string): Promise<void> {
  if (await stat(outside).catch(() => undefined)) return;
  throw new EmbeddedPostgresError(
    `the database named in ${pointer} is gone: ${outside}; restore it, or delete that file to start with an empty one`,
  );
}

async function assertNoData(inside: string): Promise<void> {
  if (!(await stat(join(inside, 'data')).catch(() => undefined))) return;
  throw new EmbeddedPostgresError(
    `the unprivileged user that runs PostgreSQL can no longer enter ${inside}; open the folders above it ` +
      '(chmod o+x), or start as the user who owns it',
  );
}
