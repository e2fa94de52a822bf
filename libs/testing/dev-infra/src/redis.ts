import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@gateway/database';
import type { TestServer } from './describe-with';
import { findProgram } from './find-program';
import { startTethered, type TetheredProcess } from './tethered-process';

const PROGRAM = 'redis-server';

export const redis: TestServer = {
  name: 'Redis',
  howToGet: "Debian's package redis-server brings it.",
  isAvailable: () => findProgram(PROGRAM) !== undefined,
};

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Stops to answer, without an end of its connections. */
  pause(): void;
  resume(): void;
  /** As by a crash: nothing is written down, its memory is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with empty memory. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  readonly port?: number;
  /** As in redis.conf, such as `{ 'maxmemory': '100mb' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A Redis server that keeps everything in memory only. */
export async function startRedis({
  port: wanted,
  settings = {},
}: RedisServerOptions = {}): Promise<RedisServer> {
  const program = findProgram(PROGRAM);
  if (program === undefined) throw new Error(`there is no ${PROGRAM} on this machine. ${redis.howToGet}`);
  const port = wanted ?? (await findFreePort());
  const directory = await mkdtemp(join(tmpdir(), 'gateway-redis-'));
  const all = {
    bind: '127.0.0.1',
    port: String(port),
    dir: directory,
    save: '',
    appendonly: 'no',
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  let server: TetheredProcess | undefined;

  async function start(): Promise<void> {
    const started = await startTethered({ command: program ?? PROGRAM, args });
    server = started;
    await untilAnswering(port, started);
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    start,
    pause: () => server?.signal('SIGSTOP'),
    resume: () => server?.signal('SIGCONT'),
    kill: async () => server?.kill(),
    stop: async () => {
      server?.signal('SIGCONT');
      await server?.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const POLL_MS = 10;

/** Until PING is answered; rejects when the server ends before. */
async function untilAnswering(port: number, server: TetheredProcess): Promise<void> {
  let ended = false;
  void server.ended.then(() => (ended = true));
  while (!(await ping(port))) {
    if (ended) throw new Error(`${PROGRAM} ended at once:\n${server.lastLines()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write('PING\r\n'));
    socket.once('data', (answer) => {
      resolve(answer.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
