import type { EventEmitter } from 'node:events';
import type { Logger } from 'pino';

/** What of Node's `process` is used; tests bring their own. */
export interface ProcessHost extends Pick<EventEmitter, 'on' | 'off'> {
  exit(code: number): void;
}

export interface RunProcessOptions {
  /** Resolves when the process is ready for requests. */
  readonly start: () => Promise<void>;
  /** Finishes what runs and releases everything; also called when `start` failed half-way. */
  readonly stop: () => Promise<void>;
  /** How long `stop` may take before the process ends without it. */
  readonly graceMs: number;
  readonly log: Logger;
  /** Resolves with the reason when the process can do its work no longer; it then stops as it would on a signal, and exits 1. */
  readonly failed?: Promise<Error>;
  /** Node's own when absent. */
  readonly host?: ProcessHost;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * The life of a process: start; on the first SIGTERM or SIGINT stop cleanly and
 * exit 0; on the second, or after the grace period, exit 1 at once. A fault
 * that nobody caught is logged and ends the process with 1, since its state can
 * no longer be trusted; what it leaves behind is what a crash leaves. A process
 * that says itself that it cannot go on stops cleanly and exits 1.
 *
 * Resolves when `start` has finished, or the process is on its way out.
 */
export async function runProcess({
  start,
  stop,
  graceMs,
  log,
  failed,
  host = process,
}: RunProcessOptions): Promise<void> {
  let stopping = false;
  let ended = false;
  let overdue: NodeJS.Timeout | undefined;

  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      log.warn({ signal }, 'asked to stop a second time: ending now');
      return end(1);
    }
    log.info({ signal, graceMs }, 'stopping');
    void stopWithin(0);
  };
  const onUnhandledRejection = (reason: unknown): void =>
    crash(reason, 'a promise was rejected and nobody handled it');
  const onUncaughtException = (error: unknown): void =>
    crash(error, 'an error was thrown and nobody caught it');

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
      log.error({ graceMs }, 'stopping took longer than the grace period: ending now');
      end(1);
    }, graceMs);
    try {
      // A start under way ends first; stopping half a start would race with it.
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
    log.fatal({ err: error }, 'the process cannot go on');
    void stopWithin(1);
  });

  const started = Promise.resolve().then(start);
  try {
    await started;
  } catch (error) {
    log.fatal({ err: error }, 'the process could not start');
    if (stopping) return;
    await stopWithin(1);
  }
}
