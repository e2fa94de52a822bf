import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@gateway/database';
import type { TestServer } from './describe-with';
import { findProgram } from './find-program';
import type { RedisServer, RedisServerOptions } from './redis-server';
import { commandRedis } from './redis-cli';
import { startTethered, type TetheredProcess } from './tethered-process';

const PROGRAM = 'redis-server';

/** Several servers that reach each other, or read files of this machine. */
export const localRedis: TestServer = {
  name: 'Redis as a local program',
  installHint: 'Install it (Debian: redis-server).',
  isAvailable: () => findProgram(PROGRAM) !== undefined,
};

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

/**
 * Starts a Redis server of this machine, without persistence. Servers started so reach each other
 * on 127.0.0.1, and their settings may name files.
 */
export async function startLocalRedis({
  port: requestedPort,
  settings = {},
}: RedisServerOptions = {}): Promise<RedisServer> {
  const program = findProgram(PROGRAM);
  if (program === undefined) throw new Error(`${PROGRAM} is not installed. ${localRedis.installHint}`);
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
    command: (...args) => commandRedis(port, ...args),
    start,
    pause: async () => server?.pause(),
    resume: async () => server?.resume(),
    kill: async () => server?.kill(),
    stop: async () => {
      server?.resume();
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
  while (!(await isRedisResponding('127.0.0.1', port))) {
    if (hasExited) throw new Error(`${PROGRAM} exited during startup:\n${server.lastLines()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Whether the server responds to PING. */
export function isRedisResponding(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port }, () => socket.write('PING\r\n'));
    socket.once('data', (reply) => {
      resolve(reply.toString().startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
