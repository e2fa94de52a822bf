import { chown, lchown, readFile, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './postgres-error';

/** Whom the server runs as. PostgreSQL refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference; all are there to own nothing but their own service. */
const PREFERRED_NAMES = ['postgres', '_postgres', 'nobody'];

/** Undefined when we are not root, and the server simply runs as we do. */
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
    'PostgreSQL does not run as root and no unprivileged account (postgres, nobody) exists here; ' +
      'start as an ordinary user or set DATABASE_URL',
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

/** Whether the user may enter a folder, that is search it and every folder above it. */
export async function canEnter(user: ServerUser, directory: string): Promise<boolean> {
  let current = await realpath(directory).catch(() => undefined);
  while (current !== undefined) {
    if (!(await may(user, current, EXECUTE))) return false;
    const parent = dirname(current);
    current = parent === current ? undefined : parent;
    if (current === undefined) return true;
  }
  return false;
}

/** Whether the user may run a program file. */
export async function canRun(user: ServerUser, file: string): Promise<boolean> {
  return (await canEnter(user, dirname(file))) && (await may(user, file, READ | EXECUTE));
}

async function may(user: ServerUser, path: string, wanted: number): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** Hands a folder and all in it to the user. */
export async function giveTo(user: ServerUser, directory: string): Promise<void> {
  await chown(directory, user.uid, user.gid);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid);
  }
}
