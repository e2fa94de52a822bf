import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@gateway/database';
import type { TestServer } from './describe-with';
import { findProgram } from './find-program';
import { startTethered, type TetheredProcess } from './tethered-process';

const PROGRAM = 'pgbouncer';

export const pgbouncer: TestServer = {
  name: 'PgBouncer',
  installHint: 'Install it (Debian: pgbouncer).',
  isAvailable: () => findProgram(PROGRAM) !== undefined,
};

export interface PgBouncerOptions<Name extends string> {
  /** Each database's direct URL, with its role and password. */
  readonly databases: Readonly<Record<Name, string>>;
  /** Server connections per database; few, so that one client's transactions use several connections. */
  readonly poolSize?: number;
}

export interface PgBouncer<Name extends string> {
  /** Each database's URL through the pooler. */
  readonly databases: Readonly<Record<Name, string>>;
  readonly port: number;
  stop(): Promise<void>;
}

const DEFAULT_POOL_SIZE = 4;
const MAX_CLIENTS = 1_000;
/** PgBouncer refuses to run as root. */
const USER = { name: 'nobody', uid: 65_534, gid: 65_534 };

/** Starts a pooler in transaction mode with otherwise default settings. */
export async function startPgBouncer<Name extends string>({
  databases,
  poolSize = DEFAULT_POOL_SIZE,
}: PgBouncerOptions<Name>): Promise<PgBouncer<Name>> {
  const program = findProgram(PROGRAM);
  if (program === undefined) throw new Error(`${PROGRAM} is not installed. ${pgbouncer.installHint}`);
  const port = await findFreePort();
  const directory = await mkdtemp(join(tmpdir(), 'gateway-pgbouncer-'));
  const isRoot = process.getuid?.() === 0;
  const entries = Object.entries<string>(databases);
  const file = join(directory, 'pgbouncer.ini');
  // No authentication: a client gets the rights of each database's role.
  const settings = [
    '[databases]',
    ...entries.map(([name, url]) => `${name} = ${connectionOf(url)}`),
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    `max_client_conn = ${MAX_CLIENTS}`,
    ...(isRoot ? [`user = ${USER.name}`] : []),
  ];
  await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o600 });
  if (isRoot) for (const path of [directory, file]) await chown(path, USER.uid, USER.gid);
  const server = await startTethered({ command: program, args: ['--quiet', file] });
  await waitUntilListening(port, server);
  return {
    databases: Object.fromEntries(
      entries.map(([name, url]) => [name, throughPort(url, name, port)]),
    ) as Record<Name, string>,
    port,
    async stop() {
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function connectionOf(url: string): string {
  const { hostname, port, pathname, username, password } = new URL(url);
  const parts = {
    host: hostname,
    port: port || '5432',
    dbname: pathname.slice(1),
    user: username,
    password: decodeURIComponent(password),
  };
  return Object.entries(parts)
    .map(([name, value]) => `${name}='${value.replaceAll("'", "''")}'`)
    .join(' ');
}

function throughPort(url: string, name: string, port: number): string {
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  through.pathname = `/${name}`;
  through.password = '';
  return through.toString();
}

const POLL_MS = 20;

async function waitUntilListening(port: number, server: TetheredProcess): Promise<void> {
  let hasExited = false;
  void server.exited.then(() => (hasExited = true));
  while (!(await isListening(port))) {
    if (hasExited) throw new Error(`${PROGRAM} exited during startup:\n${server.lastLines()}`);
    await delay(POLL_MS);
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
