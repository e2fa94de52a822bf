import { chown, lchown, readFile, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './postgres-error';

/** The user that runs the server. PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** Unprivileged accounts, in order of preference. */
const PREFERRED_NAMES = ['postgres', '_postgres', 'nobody'];

/** Undefined if this process is not root: the server then runs as the same user. */
export async function chooseServerUser(dataDirectory: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(dataDirectory).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = await readAccounts();
  for (const name of PREFERRED_NAMES) {
    const account = accounts.get(name);
    if (account && account.uid !== 0) return account;
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and there is no unprivileged account (postgres, nobody); ' +
      'start as an unprivileged user, or set DATABASE_URL',
  );
}

async function readAccounts(): Promise<Map<string, ServerUser>> {
  const accounts = new Map<string, ServerUser>();
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || !uid || !gid) continue;
    // Some systems write the ids of "nobody" as negative numbers.
    accounts.set(name, { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 });
  }
  return accounts;
}

const READ = 0o4;
const EXECUTE = 0o1;

/** Whether the user can enter a folder, which requires search permission on it and all its parents. */
export async function canEnter(user: ServerUser, directory: string): Promise<boolean> {
  let current = await realpath(directory).catch(() => undefined);
  if (current === undefined) return false;
  while (await hasPermission(user, current, EXECUTE)) {
    const parent = dirname(current);
    if (parent === current) return true;
    current = parent;
  }
  return false;
}

/** Whether the user can execute a file. */
export async function canRun(user: ServerUser, file: string): Promise<boolean> {
  return (await canEnter(user, dirname(file))) && (await hasPermission(user, file, READ | EXECUTE));
}

async function hasPermission(user: ServerUser, path: string, wanted: number): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** Changes the owner of a folder and everything in it. */
export async function changeOwner(user: ServerUser, directory: string): Promise<void> {
  await chown(directory, user.uid, user.gid);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid);
  }
}
