import type { DatabaseLog } from '../log';
import { pause } from './pause';
import { EmbeddedPostgresError } from './postgres-error';
import type { ServerProcess } from './server-process';

export interface SupervisedServer {
  /** The pid of the current server process. */
  readonly pid: number;
  /** Rejects after too many failures; otherwise resolves after `stop`. */
  readonly stopped: Promise<void>;
  stop(): Promise<void>;
}

const MAX_RESTARTS = 5;
/** A server that has run this long is considered recovered from earlier failures. */
const RECOVERED_AFTER_MS = 60_000;
/** Multiplied by the number of failures. */
const RESTART_PAUSE_MS = 500;

/** Restarts the server whenever it exits. A failed restart counts as another failure. */
export function superviseServer(
  first: ServerProcess,
  restart: (signal: AbortSignal) => Promise<ServerProcess>,
  log: DatabaseLog,
): SupervisedServer {
  let server = first;
  const stopping = new AbortController();

  async function run(): Promise<void> {
    let startedAtMs: number | undefined = performance.now();
    let failures = 0;
    let reason = await server.exited;
    while (!stopping.signal.aborted) {
      // Counts failures since the last recovery, not per minute: on a busy machine, a few starts take longer than that.
      const hadRecovered = startedAtMs !== undefined && performance.now() - startedAtMs >= RECOVERED_AFTER_MS;
      failures = hadRecovered ? 1 : failures + 1;
      startedAtMs = undefined;
      log.error({ reason }, 'PostgreSQL exited unexpectedly; restarting it');
      if (failures > MAX_RESTARTS) {
        throw new EmbeddedPostgresError(
          `PostgreSQL failed ${failures} times without running for a minute; last failure: ${reason}`,
        );
      }
      try {
        server = await restart(stopping.signal);
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
        await pause(failures * RESTART_PAUSE_MS, stopping.signal);
        continue;
      }
      startedAtMs = performance.now();
      if (stopping.signal.aborted) await server.stop();
      else log.info({ pid: server.pid }, 'PostgreSQL is running again');
      reason = await server.exited;
    }
  }

  const stopped = run();
  stopped.catch((error: unknown) => log.error({ err: error }, 'PostgreSQL cannot be restarted'));
  return {
    get pid() {
      return server.pid;
    },
    stopped,
    async stop() {
      stopping.abort();
      await server.stop();
      // A restart in progress may still start a server, which it then stops.
      await stopped.catch(() => undefined);
    },
  };
}
