import { createServer, type Server } from 'node:net';
import type { BoundService } from '../bound-service';
import type { RpcCallEnd } from '../call-end';
import { DeadlineWheel } from '../deadline-wheel';
import { MAX_MESSAGE_BYTES } from '../limits';
import { servedMethods, type RpcLog } from '../served-methods';
import { MAX_CONNECTIONS } from './local-limits';
import { numberedMethods, writeMethodTable } from './method-table';
import { ServedConnection, type LocalServing } from './served-connection';
import { checkSocketPath, removeStaleSocket } from './socket-path';

export interface LocalServerOptions {
  readonly services: readonly BoundService[];
  /** Of the Unix socket, which only the user of this process may open. */
  readonly path: string;
  /** For what of a failure does not cross to the caller. */
  readonly log?: RpcLog;
  /** How long calls under way may go on after `stop`, in milliseconds; then they are aborted. */
  readonly drainMs?: number;
  /** MAX_MESSAGE_BYTES when absent. */
  readonly maxMessageBytes?: number;
  /** Told of the end of every call. */
  readonly onCallEnd?: (end: RpcCallEnd) => void;
}

export interface LocalServer {
  /** Rejects when another process listens on the path; the socket of one that died is replaced. */
  start(): Promise<void>;
  /** Takes no new calls, waits for those under way within `drainMs`, then aborts them. Safe to call twice. */
  stop(): Promise<void>;
}

const DEFAULT_DRAIN_MS = 10_000;
/** What callers get to take the last answers; then their connections are dropped. */
const FLUSH_MS = 500;
/** The owner's alone. */
const SOCKET_UMASK = 0o177;

/** Serves bound services to other processes of this machine over a Unix socket. */
export function createLocalServer({
  services,
  path,
  log,
  drainMs = DEFAULT_DRAIN_MS,
  maxMessageBytes = MAX_MESSAGE_BYTES,
  onCallEnd,
}: LocalServerOptions): LocalServer {
  checkSocketPath(path);
  const methods = numberedMethods(servedMethods(services));
  const methodTable = writeMethodTable(methods);
  const serving: LocalServing = {
    methods,
    methodTable,
    deadlines: new DeadlineWheel(),
    maxMessageBytes,
    log,
    onCallEnd,
  };
  const connections = new Set<ServedConnection>();
  const server = createServer((socket) => {
    const connection = new ServedConnection(socket, serving, () => connections.delete(connection));
    connections.add(connection);
  });
  server.maxConnections = MAX_CONNECTIONS;
  let stopping: Promise<void> | undefined;

  async function start(): Promise<void> {
    try {
      await listen(server, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || !(await removeStaleSocket(path)))
        throw error;
      await listen(server, path);
    }
  }

  async function stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    const overdue = setTimeout(() => {
      for (const connection of connections) connection.cut();
    }, drainMs);
    await Promise.all([...connections].map((connection) => connection.drain()));
    clearTimeout(overdue);
    for (const connection of connections) connection.end();
    const unflushed = setTimeout(() => {
      for (const connection of connections) connection.destroy();
    }, FLUSH_MS);
    await closed;
    clearTimeout(unflushed);
  }

  return { start, stop: () => (stopping ??= stop()) };
}

/** The socket must never be open to others, not even until its mode is set: it is made with that mode, at once. */
function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const umask = process.umask(SOCKET_UMASK);
    try {
      // Exclusive: a worker of a cluster listens itself rather than have its primary do so.
      server.listen({ path, exclusive: true }, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(umask);
    }
  });
}
