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
  installHint: 'Install it (Debian: redis-server).',
  isAvailable: () => findProgram(PROGRAM) !== undefined,
};

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Stops responding without closing connections. */
  pause(): void;
  resume(): void;
  /** Simulates a crash: its data is lost. */
  kill(): Promise<void>;
  /** Restarts it on the same port, empty. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Files in PEM. */
export interface RedisTls {
  readonly authority: string;
  readonly certificate: string;
  readonly privateKey: string;
}

/** Settings of a server that also listens with TLS on this port. */
export function tlsSettings({ authority, certificate, privateKey }: RedisTls, port: number) {
  return {
    'tls-port': String(port),
    'tls-ca-cert-file': authority,
    'tls-cert-file': certificate,
    'tls-key-file': privateKey,
    'tls-auth-clients': 'no',
  };
}

export interface RedisServerOptions {
  readonly port?: number;
  /** As in redis.conf, such as `{ 'maxmemory': '100mb' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a Redis server without persistence. */
export async function startRedis({
  port: requestedPort,
  settings = {},
}: RedisServerOptions = {}): Promise<RedisServer> {
  const program = findProgram(PROGRAM);
  if (program === undefined) throw new Error(`${PROGRAM} is not installed. ${redis.installHint}`);
  const port = requestedPort ?? (await findFreePort());
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
    await waitUntilResponding(port, started);
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

/** Waits for a response to PING; rejects if the server exits first. */
async function waitUntilResponding(port: number, server: TetheredProcess): Promise<void> {
  let hasExited = false;
  void server.exited.then(() => (hasExited = true));
  while (!(await ping(port))) {
    if (hasExited) throw new Error(`${PROGRAM} exited during startup:\n${server.lastLines()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write('PING\r\n'));
    socket.once('data', (reply) => {
      resolve(reply.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
