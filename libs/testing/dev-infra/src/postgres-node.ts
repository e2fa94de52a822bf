import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CHILD_ENVIRONMENT,
  findFreePort,
  initializeCluster,
  prepareServer,
  SUPERUSER,
  type PreparedServer,
} from '@gateway/database';
import { createSilentLogger } from '@gateway/runtime';
import { Client, type QueryResultRow } from 'pg';
import { takeBaseBackup, writeOwned } from './base-backup';
import { descendantsOf, freezeProcesses, killNow } from './process-tree';
import { startTethered, type TetheredProcess } from './tethered-process';

/**
 * A PostgreSQL server that replicates: a primary or a standby. It runs from the binaries of
 * `@gateway/database`, since servers in containers cannot copy each other's data folders. It is not restarted when it
 * exits.
 */
export interface PostgresNode {
  readonly port: number;
  /** Its name as a standby, for `synchronous_standby_names`. */
  readonly name: string;
  readonly dataDirectory: string;
  /** For the superuser. */
  urlOf(database: string): string;
  /** Runs a statement as superuser in the database `postgres`. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Makes the standby a primary. Resolves when it accepts writes. */
  promote(): Promise<void>;
  /** A clean shutdown, after which standbys have everything. */
  shutDown(): Promise<void>;
  /** Simulates a crash. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Makes it a standby of another server, and starts it unless it runs. Its history must be part of the other's. */
  follow(primary: PostgresNode): Promise<void>;
  /** As a standby, it receives nothing more from its primary. */
  stopReceiving(): Promise<void>;
  /** Replaces its data with a base backup of another server, and follows that. */
  rebuildFrom(primary: PostgresNode): Promise<void>;
  /** Neither responds nor closes connections. @returns a function that resumes it */
  freeze(): () => void;
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

export interface PostgresNodeOptions {
  /** Default `primary`. */
  readonly name?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  // A standby that was down for a while can still follow.
  wal_keep_size: '1GB',
};
const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const log = createSilentLogger();

/** Starts an empty primary. */
export async function startPostgresPrimary(options: PostgresNodeOptions = {}): Promise<PostgresNode> {
  const { stateDirectory, prepared } = await openFolder();
  await initializeCluster(prepared.home, prepared.binaries, prepared.password, log);
  const server = await createServer(
    options.name ?? 'primary',
    stateDirectory,
    prepared,
    prepared.password,
    options,
  );
  await startOrRemove(server);
  return server;
}

/** Starts a standby of a running primary, from a base backup. */
export async function startPostgresStandby(
  primary: PostgresNode,
  name: string,
  options: Omit<PostgresNodeOptions, 'name'> = {},
): Promise<PostgresNode> {
  const { stateDirectory, prepared } = await openFolder();
  const password = new URL(primary.urlOf('postgres')).password;
  const server = await createServer(name, stateDirectory, prepared, password, options);
  try {
    await server.rebuildFrom(primary);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

async function openFolder(): Promise<{ stateDirectory: string; prepared: PreparedServer }> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'gateway-postgres-'));
  // As root, the server runs as another user, which must enter this folder.
  await chmod(stateDirectory, 0o755);
  return { stateDirectory, prepared: await prepareServer({ stateDirectory, log }) };
}

async function startOrRemove(server: PostgresNode): Promise<void> {
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function createServer(
  name: string,
  stateDirectory: string,
  { home, binaries }: PreparedServer,
  password: string,
  { settings = {} }: PostgresNodeOptions,
): Promise<PostgresNode> {
  const port = await findFreePort();
  const { dataDirectory, user } = home;
  let running: TetheredProcess | undefined;
  let isRunning = false;

  const server: PostgresNode = {
    port,
    name,
    dataDirectory,
    urlOf: (database) => `postgres://${SUPERUSER}:${password}@${HOST}:${port}/${database}`,
    async query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const client = new Client({ connectionString: server.urlOf('postgres') });
      client.on('error', () => undefined);
      await client.connect();
      try {
        return (await client.query<Row>(text, [...values])).rows;
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    async promote() {
      await server.query('select pg_promote()');
      await until('the promotion', async () => {
        const [row] = await server.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
        return row?.standby === false;
      });
    },
    async shutDown() {
      running?.signal('SIGINT');
      await running?.exited;
    },
    async kill() {
      if (running === undefined) return;
      // Else they exit a moment later, and until then the server cannot start again.
      const sessions = descendantsOf(running.pid);
      await running.kill();
      for (const pid of sessions) killNow(pid);
    },
    async start() {
      const assignments = Object.entries({ ...SETTINGS, ...settings });
      const started = await startTethered({
        command: binaries.postgres,
        args: [
          ...['-D', dataDirectory, '-p', String(port)],
          ...assignments.flatMap(([setting, value]) => ['-c', `${setting}=${value}`]),
        ],
        environment: CHILD_ENVIRONMENT,
        directory: dataDirectory,
        user,
      });
      running = started;
      isRunning = true;
      void started.exited.then(() => (isRunning = false));
      await until('the start of PostgreSQL', async () => {
        if (!isRunning) throw new Error(`PostgreSQL exited during startup:\n${started.lastLines()}`);
        return server.query('select 1').then(
          () => true,
          () => false,
        );
      });
    },
    async rebuildFrom(primary) {
      await server.kill();
      await rm(dataDirectory, { recursive: true, force: true });
      await takeBaseBackup(primary.urlOf('postgres'), primary.dataDirectory, dataDirectory);
      await server.follow(primary);
    },
    async follow(primary) {
      const { username, password: secret } = new URL(primary.urlOf('postgres'));
      const source = `host=${HOST} port=${primary.port} user=${username} password=${secret} application_name=${name}`;
      await writeOwned(dataDirectory, 'standby.signal', '');
      await writeOwned(dataDirectory, 'postgresql.auto.conf', `primary_conninfo = '${source}'\n`);
      if (isRunning) await server.query('select pg_reload_conf()');
      else await server.start();
      await until('replication', async () => {
        const rows = await primary.query(
          `select from pg_stat_replication where application_name = $1 and state = 'streaming'`,
          [name],
        );
        return rows.length > 0;
      });
    },
    async stopReceiving() {
      await server.query(`alter system set primary_conninfo = ''`);
      await server.query('select pg_reload_conf()');
      await until('the end of replication', async () => {
        const rows = await server.query('select from pg_stat_wal_receiver');
        return rows.length === 0;
      });
    },
    freeze() {
      if (running === undefined) throw new Error('the server is not running');
      return freezeProcesses(running.pid);
    },
    async stop() {
      await server.kill();
      await rm(home.directory, { recursive: true, force: true });
      await rm(stateDirectory, { recursive: true, force: true });
    },
  };
  return server;
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`${what} takes too long`);
    await delay(POLL_MS);
  }
}
