import type { DatabaseLog } from '../log';
import { findBinaries, type Binaries } from './binaries';
import { readOrCreatePassword } from './initialize-cluster';
import { openServerHome, type ServerHome } from './server-home';

export interface PreparedServer {
  readonly home: ServerHome;
  readonly binaries: Binaries;
  /** The password of the superuser. */
  readonly password: string;
}

export interface PrepareServerOptions {
  readonly stateDirectory: string;
  readonly log: DatabaseLog;
  readonly outsideDirectories?: readonly string[];
  readonly packageDirectory?: string;
}

/** Finds the programs, a folder and a user for a server. Creates no data. */
export async function prepareServer({
  stateDirectory,
  log,
  outsideDirectories,
  packageDirectory,
}: PrepareServerOptions): Promise<PreparedServer> {
  const home = await openServerHome(stateDirectory, log, outsideDirectories);
  const binaries = await findBinaries(home, log, packageDirectory);
  return { home, binaries, password: await readOrCreatePassword(stateDirectory, 'postgres-password') };
}
