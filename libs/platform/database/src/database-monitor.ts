import type { PoolClient } from 'pg';
import { Gauge, type Registry } from 'prom-client';
import { isServerReadOnly } from './database-error';
import type { DatabasePool } from './database-pool';
import { parseDatabaseUrl } from './database-url';
import type { DatabaseLog } from './log';
import { createPool, type PoolOptions } from './pool';

/**
 * - `read_only`: a standby, or a primary that was demoted.
 * - `commits_blocked`: reads work, but a commit is not confirmed. The primary waits for a synchronous standby, or its
 *   disk does not respond.
 * - `silent`: connections are open, and the server does not respond.
 */
export type DatabaseState = 'available' | 'unreachable' | 'read_only' | 'commits_blocked' | 'silent';

/** Watches whether a database accepts writes. */
export interface DatabaseMonitor {
  /** Whether the database accepts writes. Waits for the first check only. */
  isAvailable(): Promise<boolean>;
  /** As the last check found it. */
  state(): DatabaseState;
  end(): Promise<void>;
}

export interface DatabaseMonitorOptions extends Pick<PoolOptions, 'url' | 'schema' | 'throughPooler'> {
  /** Pools that leave a server which is read-only or silent. */
  readonly pools: readonly DatabasePool[];
  readonly log?: Pick<DatabaseLog, 'warn' | 'info'>;
  readonly metrics?: Registry;
}

const CHECK_INTERVAL_MS = 1_000;
/** A commit costs a flush of the disk, so it is tested less often than reads. */
const WRITE_INTERVAL_MS = 3_000;
const READ_TIMEOUT_MS = 1_500;
const COMMIT_TIMEOUT_MS = 3_000;
const CONNECT_TIMEOUT_MS = 2_000;

const READ = 'show transaction_read_only';
/** The smallest transaction that is flushed and replicated like any other. Needs no table. */
const WRITE = `select pg_logical_emit_message(true, 'gateway', 'availability')`;

/**
 * Reads once a second, and commits a write every three, on connections of its own, so that a busy pool does not look
 * like an unavailable database.
 *
 * A blocked commit is not repeated but awaited: the server keeps a connection for each commit that waits for a
 * standby, even after the client has closed it.
 */
export function createDatabaseMonitor({
  pools,
  log,
  metrics,
  ...options
}: DatabaseMonitorOptions): DatabaseMonitor {
  const { acceptsReadOnly } = parseDatabaseUrl(options.url);
  const own = createPool({
    ...options,
    applicationName: 'gateway monitor',
    // One reads while a commit of the other is blocked.
    maxConnections: 2,
    acquireTimeoutMs: CONNECT_TIMEOUT_MS,
    // Reads are bounded here, and a blocked commit is awaited.
    queryTimeoutMs: 0,
  });
  const available = metrics && availabilityGauge(metrics).labels({ schema: options.schema });
  let state: DatabaseState | undefined;
  let writing: Promise<DatabaseState> | undefined;
  let writtenMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  async function check(): Promise<DatabaseState> {
    const read = await readOnce();
    if (read !== 'available' || performance.now() - writtenMs < WRITE_INTERVAL_MS) return read;
    writing ??= write().finally(() => (writing = undefined));
    return (await inTime(writing, COMMIT_TIMEOUT_MS)) ?? 'commits_blocked';
  }

  async function readOnce(): Promise<DatabaseState> {
    let client: PoolClient;
    try {
      client = await own.connect();
    } catch (error) {
      return stateOf(error);
    }
    const reading = client
      .query<{ transaction_read_only: string }>(READ)
      .then(
        ({ rows: [row] }) =>
          acceptsReadOnly || row?.transaction_read_only === 'off' ? 'available' : 'read_only',
        stateOf,
      );
    const found = (await inTime(reading, READ_TIMEOUT_MS)) ?? 'silent';
    client.release(found !== 'available');
    return found;
  }

  async function write(): Promise<DatabaseState> {
    if (acceptsReadOnly) return 'available';
    try {
      await own.query(WRITE);
      writtenMs = performance.now();
      return 'available';
    } catch (error) {
      return stateOf(error);
    }
  }

  async function checkAndReact(): Promise<void> {
    const found = await check();
    if (ended) return;
    if (found !== state) {
      if (found !== 'available')
        log?.warn({ state: found, schema: options.schema }, 'the database does not accept writes');
      else if (state !== undefined)
        log?.info({ schema: options.schema }, 'the database accepts writes again');
    }
    state = found;
    available?.set(found === 'available' ? 1 : 0);
    if (found === 'silent' || found === 'read_only')
      for (const pool of [own, ...pools]) pool.dropConnections(`the database server is ${found}`);
    timer = setTimeout(() => void checkAndReact(), CHECK_INTERVAL_MS);
    timer.unref();
  }

  const first = checkAndReact();
  return {
    async isAvailable() {
      await first;
      return state === 'available';
    },
    state: () => state ?? 'unreachable',
    end() {
      ended = true;
      clearTimeout(timer);
      return own.end();
    },
  };
}

/** Shared by the schemas of a process. */
function availabilityGauge(registry: Registry): Gauge<string> {
  const existing = registry.getSingleMetric('gateway_database_available');
  if (existing instanceof Gauge) return existing;
  return new Gauge({
    name: 'gateway_database_available',
    help: '1 while the database of a schema accepts writes and confirms their commits.',
    labelNames: ['schema'] as const,
    registers: [registry],
  });
}

function stateOf(error: unknown): DatabaseState {
  return isServerReadOnly(error) ? 'read_only' : 'unreachable';
}

/**
 * Undefined if the work takes too long. Waits in two halves: after a pause of the process, a timer fires before a
 * response that has arrived meanwhile is read.
 */
async function inTime<Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> {
  for (let half = 0; half < 2; half += 1) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, ms / 2, undefined);
    });
    const result = await Promise.race([work, late]);
    clearTimeout(timer);
    if (result !== undefined) return result;
  }
  return undefined;
}
