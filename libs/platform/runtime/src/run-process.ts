import type { EventEmitter } from 'node:events';
import type { Logger } from 'pino';

/** The used part of Node's `process`; replaced in tests. */
export interface ProcessHost extends Pick<EventEmitter, 'on' | 'off'> {
  exit(code: number): void;
}

export interface RunProcessOptions {
  /** Resolves when the process is ready for requests. */
  readonly start: () => Promise<void>;
  /** Called before `stop`, which waits for a running start: it should end what the start waits for. */
  readonly abortStart?: () => void;
  /** Finishes running work and releases all resources; also called when `start` fails. */
  readonly stop: () => Promise<void>;
  /** How long `stop` may take before the process is terminated. */
  readonly graceMs: number;
  readonly log: Logger;
  /** Resolves with the reason of a fatal failure. The process then stops cleanly and exits 1. */
  readonly failed?: Promise<Error>;
  /** Defaults to Node's `process`. */
  readonly host?: ProcessHost;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Runs a process from start to exit:
 * - The first SIGTERM or SIGINT stops it cleanly and exits 0.
 * - A second signal, or the end of the grace period, exits 1 immediately.
 * - An uncaught error is logged and exits 1 without a clean stop, since the state
 *   of the process can no longer be trusted.
 * - A failure reported by `failed` stops it cleanly and exits 1.
 *
 * Resolves when `start` has finished, or the process is exiting.
 */
export async function runProcess({
  start,
  abortStart,
  stop,
  graceMs,
  log,
  failed,
  host = process,
}: RunProcessOptions): Promise<void> {
  // Node.js parses the source map when the first stack is read, for up to 0.1 seconds: now, while no request waits.
  void new Error('reads the source map').stack;

  let stopping = false;
  let ended = false;
  let overdue: NodeJS.Timeout | undefined;

  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      log.warn({ signal }, 'received a second stop signal: exiting now');
      return end(1);
    }
    log.info({ signal, graceMs }, 'stopping');
    void stopWithin(0);
  };
  const onUnhandledRejection = (reason: unknown): void => crash(reason, 'unhandled promise rejection');
  const onUncaughtException = (error: unknown): void => crash(error, 'uncaught exception');

  function crash(error: unknown, message: string): void {
    log.fatal({ err: error }, message);
    end(1);
  }

  function end(code: number): void {
    if (ended) return;
    ended = true;
    clearTimeout(overdue);
    for (const signal of SIGNALS) host.off(signal, onSignal);
    host.off('unhandledRejection', onUnhandledRejection);
    host.off('uncaughtException', onUncaughtException);
    host.exit(code);
  }

  async function stopWithin(exitCode: number): Promise<void> {
    stopping = true;
    overdue = setTimeout(() => {
      log.error({ graceMs }, 'stopping exceeded the grace period: exiting now');
      end(1);
    }, graceMs);
    try {
      abortStart?.();
      // Wait for a running start; a concurrent stop would race with it.
      await started.catch(() => undefined);
      await stop();
      log.info('stopped');
      end(exitCode);
    } catch (error) {
      log.error({ err: error }, 'stopping failed');
      end(1);
    }
  }

  for (const signal of SIGNALS) host.on(signal, onSignal);
  host.on('unhandledRejection', onUnhandledRejection);
  host.on('uncaughtException', onUncaughtException);

  void failed?.then((error) => {
    if (stopping) return;
    log.fatal({ err: error }, 'the process cannot continue');
    void stopWithin(1);
  });

  const started = Promise.resolve().then(start);
  try {
    await started;
  } catch (error) {
    if (stopping) return log.info({ err: error }, 'the start was aborted');
    log.fatal({ err: error }, 'the process failed to start');
    await stopWithin(1);
  }
}
