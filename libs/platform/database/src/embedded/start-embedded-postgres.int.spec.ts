import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { createScratchDirectory, type ScratchDirectory } from '@gateway/test-support';
import { Client } from 'pg';
import { findBinaries } from './binaries';
import { findFreePort } from './free-port';
import { CHILD_ENVIRONMENT } from './initialize-cluster';

import { isPostmasterOf } from './is-postmaster';
import { isAlive } from './process-identity';
import { openServerHome } from './server-home';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './start-embedded-postgres';
import { buildWriter, startWriter, type Writer } from './testing/writer';

const ignore = () => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const packageDirectory = dirname(
  dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
);

let scratchDirectory: ScratchDirectory;
let scratch: string;
let stateDirectory: string;
let writerProgram: string;
/** Created once and copied: creating a cluster is the slow part of each test. */
let preparedState: string;
let started: EmbeddedPostgres[] = [];
let writers: Writer[] = [];

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ stateDirectory, log, ...options });
  started.push(postgres);
  return postgres;
}

async function startTestWriter(): Promise<Writer> {
  const running = await startWriter(writerProgram, stateDirectory);
  writers.push(running);
  return running;
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', ignore);
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Polls, since the condition depends on other processes. */
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function storedIds(url: string): Promise<Set<bigint>> {
  const rows = await query<{ id: string }>(url, 'select id from acknowledged');
  return new Set(rows.map(({ id }) => BigInt(id)));
}

async function copyState(from: string, to: string): Promise<void> {
  execFileSync('cp', ['-Rp', from, to]);
}

/** One of these tests starts and kills six servers in a row. */
jest.setTimeout(120_000);

beforeAll(async () => {
  scratchDirectory = await createScratchDirectory();
  scratch = scratchDirectory.path;
  writerProgram = buildWriter(scratch);
  preparedState = join(scratch, 'prepared');
  stateDirectory = preparedState;
  await (await start()).stop();
});

beforeEach(async () => {
  stateDirectory = join(await mkdtemp(join(scratch, 'case-')), 'state');
  await chmod(dirname(stateDirectory), 0o755);
  await copyState(preparedState, stateDirectory);
});

afterEach(async () => {
  await Promise.all(writers.map((running) => running.kill()));
  await Promise.all(started.map((postgres) => postgres.stop()));
  started = [];
  writers = [];
});

afterAll(() => scratchDirectory.remove());

describe('a normal start', () => {
  it('creates a UTF-8 cluster with C collation once, and retains data, port and password over restarts', async () => {
    stateDirectory = join(scratch, 'fresh');
    const first = await start();
    const [settings] = await query<Record<string, unknown>>(
      first.url,
      `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
              current_setting('listen_addresses') as addresses, datcollate as collation
       from pg_database where datname = current_database()`,
    );
    expect(settings).toEqual({ encoding: 'UTF8', fsync: 'on', addresses: '127.0.0.1', collation: 'C' });
    await query(first.url, 'create table things (id int)');
    await first.stop();
    const second = await start();
    expect(second.url).toBe(first.url);
    await expect(query(second.url, 'select * from things')).resolves.toEqual([]);
  });

  it('requires a password, which is readable by its owner only and not logged', async () => {
    const postgres = await start();
    const password = new URL(postgres.url).password;
    expect(password.length).toBeGreaterThanOrEqual(43);
    const wrong = new URL(postgres.url);
    wrong.password = 'guess';
    await expect(query(wrong.toString(), 'select 1')).rejects.toMatchObject({ code: '28P01' });
    const { mode } = await stat(join(stateDirectory, 'postgres-password'));
    expect(mode & 0o777).toBe(0o600);
    expect(await readFile(join(stateDirectory, 'postgres.log'), 'utf8')).not.toContain(password);
  });

  it('makes the application the owner of its database, without privileges on the server', async () => {
    const postgres = await start();
    await query(postgres.url, 'create schema ours; create table ours.things (id int)');
    const [role] = await query<Record<string, unknown>>(
      postgres.url,
      'select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = current_user',
    );
    expect(Object.values(role ?? {})).toEqual([false, false, false, false]);
    for (const forbidden of [
      `copy (select 1) to program 'true'`,
      `select pg_read_file('postgresql.conf')`,
      `alter system set fsync = off`,
      `alter role gateway password 'x'`,
    ]) {
      await expect(query(postgres.url, forbidden)).rejects.toMatchObject({ code: '42501' });
    }
    const passwords = ['postgres-password', 'postgres-application-password'];
    for (const name of passwords) {
      const file = join(stateDirectory, name);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const password = (await readFile(file, 'utf8')).trim();
      expect(await readFile(join(stateDirectory, 'postgres.log'), 'utf8')).not.toContain(password);
    }
  });

  it('leaves no process, lock or pid file after stop, which may be called twice', async () => {
    const postgres = await start();
    await Promise.all([postgres.stop(), postgres.stop()]);
    expect(await isPostmasterOf(postgres.pid, postgres.dataDirectory)).toBe(false);
    expect(await readdir(stateDirectory)).not.toContain('postgres.lock');
    expect(await readdir(postgres.dataDirectory)).not.toContain('postmaster.pid');
  });

  it('stops while clients have open transactions', async () => {
    const postgres = await start();
    const client = new Client({ connectionString: postgres.url });
    client.on('error', ignore);
    await client.connect();
    await client.query('begin; create table never_committed (id int)');
    await postgres.stop();
    const again = await start();
    await expect(query(again.url, 'select * from never_committed')).rejects.toThrow(/does not exist/);
    await client.end().catch(ignore);
  });

  it('reports a lost password', async () => {
    await writeFile(join(stateDirectory, 'postgres-password'), 'another\n');
    await expect(start()).rejects.toThrow(/rejects the password in the state folder/);
  });
});

describe('crashes', () => {
  it('lose no acknowledged row after kill -9 of the process that owns the server', async () => {
    const acknowledged: bigint[] = [];
    for (let round = 0; round < 3; round += 1) {
      const running = await startTestWriter();
      await running.hasWritten(50);
      acknowledged.push(...(await running.kill()));
    }
    const stored = await storedIds((await start()).url);
    expect(acknowledged.length).toBeGreaterThanOrEqual(150);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });

  it('of the owner also stop the server', async () => {
    const running = await startTestWriter();
    await running.kill();
    await until(() => !isAlive(running.serverPid));
    expect(await readdir(join(stateDirectory, 'postgres/data'))).not.toContain('postmaster.pid');
  });

  it('lose no acknowledged row after kill -9 of owner and server together', async () => {
    const running = await startTestWriter();
    await running.hasWritten(50);
    process.kill(running.serverPid, 'SIGKILL');
    const acknowledged = await running.kill();
    const stored = await storedIds((await start()).url);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });

  it('of the server restart it under the same URL with every acknowledged row', async () => {
    const postgres = await start();
    await query(postgres.url, 'create table things (id int); insert into things values (1)');
    const { pid } = postgres;
    process.kill(pid, 'SIGKILL');
    await until(() => postgres.pid !== pid);
    expect(await query(postgres.url, 'select id from things')).toEqual([{ id: 1 }]);
  });

  it('during a restart lead to another restart', async () => {
    const failures: unknown[] = [];
    const postgres = await start({ log: { ...log, error: (details: unknown) => failures.push(details) } });
    await query(postgres.url, 'create schema shop; create table shop.things (id int)');
    const { pid } = postgres;
    const control = join(postgres.dataDirectory, 'global/pg_control');
    await rename(control, `${control}.away`);
    process.kill(pid, 'SIGKILL');
    await until(() => failures.length >= 3);
    await rename(`${control}.away`, control);
    await until(() => postgres.pid !== pid);
    expect(await query(postgres.url, 'select * from shop.things')).toEqual([]);
  });

  it('that prevent a restart are reported with their reason', async () => {
    const postgres = await start();
    await rm(join(postgres.dataDirectory, 'global/pg_control'));
    process.kill(postgres.pid, 'SIGKILL');
    await expect(postgres.stopped).rejects.toThrow(
      /failed 6 times without running for a minute; last failure: .*pg_control/s,
    );
  });

  it('do not delay a stop while the restart waits for its port', async () => {
    const failures: unknown[] = [];
    const postgres = await start({ log: { ...log, error: (details: unknown) => failures.push(details) } });
    const control = join(postgres.dataDirectory, 'global/pg_control');
    await rename(control, `${control}.away`);
    process.kill(postgres.pid, 'SIGKILL');
    await until(() => failures.length >= 1);
    const intruder = createServer().listen(postgres.port, '127.0.0.1');
    await once(intruder, 'listening');
    await rename(`${control}.away`, control);
    await until(async () =>
      (await readFile(join(stateDirectory, 'postgres.log'), 'utf8')).includes('could not bind'),
    );
    // Without the stop, it retries the port for more than half a minute.
    await postgres.stop();
    intruder.close();
  });

  it('may leave an orphaned server, which the next start stops', async () => {
    const home = await openServerHome(stateDirectory, log);
    const { postgres: program } = await findBinaries(home, log);
    const port = String(await findFreePort());
    const orphan = spawn(program, ['-D', home.dataDirectory, '-p', port, '-k', ''], {
      ...home.user,
      env: CHILD_ENVIRONMENT,
      stdio: 'ignore',
      detached: true,
    });
    const exited = once(orphan, 'exit');
    await until(async () => (await readdir(home.dataDirectory)).includes('postmaster.pid'));
    const postgres = await start();
    expect(await exited).toEqual([0, null]);
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('may leave an orphaned server, which may be killed while the next start stops it', async () => {
    const home = await openServerHome(stateDirectory, log);
    const { postgres: program } = await findBinaries(home, log);
    const port = String(await findFreePort());
    // Its parent does not reap it, so its pid remains in use after it was killed.
    const parent = spawn(
      'sh',
      ['-c', '"$0" -D "$1" -p "$2" -k "" & exec sleep 300', program, home.dataDirectory, port],
      {
        ...home.user,
        env: { ...CHILD_ENVIRONMENT, PATH: process.env['PATH'] },
        stdio: 'ignore',
      },
    );
    const file = join(home.dataDirectory, 'postmaster.pid');
    await until(async () => (await readFile(file, 'utf8').catch(() => '')).includes('ready'));
    const pid = parseInt(await readFile(file, 'utf8'), 10);
    process.kill(pid, 'SIGSTOP');
    const postgres = await start({
      log: { ...log, warn: () => process.kill(pid, 'SIGKILL') },
    });
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    parent.kill('SIGKILL');
  });

  it('may leave a stale pid file whose pid now belongs to another process', async () => {
    const home = await openServerHome(stateDirectory, log);
    // With the same user, since PostgreSQL ignores processes of other users.
    const bystander = spawn('sleep', ['300'], { ...home.user, stdio: 'ignore' });
    const pidFile = join(home.dataDirectory, 'postmaster.pid');
    await writeFile(pidFile, `${bystander.pid}\n${home.dataDirectory}\n1\n5432\n\n127.0.0.1\n1 1\nready\n`);
    if (home.user) execFileSync('chown', [`${home.user.uid}:${home.user.gid}`, pidFile]);
    const postgres = await start();
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(isAlive(bystander.pid ?? 0)).toBe(true);
    bystander.kill();
  });

  it('may leave a stale lock, even if its pid is in use again', async () => {
    const stale = { pid: process.pid, identity: 'an earlier boot/1', nonce: 'stale' };
    await writeFile(join(stateDirectory, 'postgres.lock'), JSON.stringify(stale));
    await expect(start()).resolves.toBeDefined();
  });

  it('may leave an incomplete cluster of the first start, which is created again', async () => {
    stateDirectory = join(scratch, 'half-way');
    await mkdir(join(stateDirectory, 'postgres/data.partial/base'), { recursive: true });
    await expect(start()).resolves.toBeDefined();
  });
});

describe('a second start on one state folder', () => {
  it('is refused while another process runs the server, which is unaffected', async () => {
    const running = await startTestWriter();
    await expect(start()).rejects.toThrow(/process \d+ uses .* use another state folder/);
    await running.hasWritten(100);
  });

  it('is refused in the same process', async () => {
    const postgres = await start();
    await expect(start()).rejects.toThrow(/this process already uses/);
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is refused to all but one of several concurrent starts', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => start()));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a difficult environment', () => {
  it('may require another port than the preferred one', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    const postgres = await start({ port });
    expect(postgres.port).not.toBe(port);
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    occupant.close();
  });

  it('may have a state folder that other users cannot enter; the data is found again', async () => {
    const closed = await mkdtemp(join(scratch, 'closed-'));
    const outside = await mkdtemp(join(scratch, 'outside-'));
    await chmod(closed, 0o700);
    await chmod(outside, 0o755);
    stateDirectory = join(closed, 'state');
    const options = { outsideDirectories: [outside] };
    const first = await start(options);
    await query(first.url, 'create table things (id int)');
    await first.stop();
    const second = await start(options);
    expect(second.dataDirectory).toBe(first.dataDirectory);
    await expect(query(second.url, 'select * from things')).resolves.toEqual([]);
    await second.stop();
    if (process.getuid?.() !== 0) return;
    expect(first.dataDirectory.startsWith(outside)).toBe(true);
    await rm(outside, { recursive: true });
    await expect(start(options)).rejects.toThrow(/does not exist: .*restore it, or delete that file/);
  });

  describe('the npm package', () => {
    let copy: string;

    beforeEach(async () => {
      copy = await mkdtemp(join(scratch, 'package-'));
      await chmod(copy, 0o755);
      await cp(packageDirectory, copy, { recursive: true, verbatimSymlinks: true });
      const links = JSON.parse(await readFile(join(copy, 'native/pg-symlinks.json'), 'utf8')) as {
        target: string;
      }[];
      await Promise.all(links.map(({ target }) => rm(join(copy, target), { force: true })));
    });

    it('gets its library symlinks if install scripts were blocked', async () => {
      const postgres = await start({ packageDirectory: copy });
      expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    });

    it('is copied if the server cannot enter its folder', async () => {
      await chmod(copy, 0o700);
      const postgres = await start({ packageDirectory: copy });
      expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    });

    it('that cannot create a cluster is reported with its reason, and leaves nothing behind', async () => {
      const initdb = join(copy, 'native/bin/initdb');
      await rm(initdb);
      await writeFile(initdb, '#!/bin/sh\necho "initdb: no space left" >&2; exit 1\n', { mode: 0o755 });
      stateDirectory = join(await mkdtemp(join(scratch, 'broken-')), 'state');
      await chmod(dirname(stateDirectory), 0o755);
      await expect(start({ packageDirectory: copy })).rejects.toThrow(
        /could not be created: initdb: no space left; .* set DATABASE_URL/,
      );
      expect(await readdir(join(stateDirectory, 'postgres'))).toEqual([]);
      await expect(start()).resolves.toBeDefined();
    });
  });
});
