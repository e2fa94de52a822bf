import { EventEmitter } from 'node:events';
import { createSilentLogger } from './logger';
import { runProcess, type RunProcessOptions } from './run-process';

const GRACE_MS = 60_000;

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

function setUp(options: Partial<RunProcessOptions> = {}) {
  const exitCodes: number[] = [];
  const exited = gate();
  const emitter = new EventEmitter();
  const host = Object.assign(emitter, {
    exit: (code: number) => {
      exitCodes.push(code);
      exited.open();
    },
  });
  const calls: string[] = [];
  const run = runProcess({
    start: async () => void calls.push('start'),
    stop: async () => void calls.push('stop'),
    graceMs: GRACE_MS,
    log: createSilentLogger(),
    host,
    ...options,
  });
  return { host, run, calls, exitCodes, exited: exited.opened };
}

describe('the lifecycle of a process', () => {
  it.each(['SIGTERM', 'SIGINT'])('%s stops it cleanly, once', async (signal) => {
    const { host, run, calls, exitCodes, exited } = setUp();
    await run;
    expect(calls).toEqual(['start']);
    host.emit(signal, signal);
    await exited;
    expect(calls).toEqual(['start', 'stop']);
    expect(exitCodes).toEqual([0]);
    expect(host.eventNames()).toEqual([]);
  });

  it('has Node.js parse the source map before the start', async () => {
    const { prepareStackTrace } = Error;
    const reads: string[] = [];
    Error.prepareStackTrace = () => void reads.push('stack');
    try {
      await setUp({ start: async () => void reads.push('start') }).run;
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
    expect(reads).toEqual(['stack', 'start']);
  });

  it('a second signal ends it immediately', async () => {
    const { host, run, exitCodes } = setUp({ stop: () => new Promise(() => undefined) });
    await run;
    host.emit('SIGTERM', 'SIGTERM');
    expect(exitCodes).toEqual([]);
    host.emit('SIGINT', 'SIGINT');
    expect(exitCodes).toEqual([1]);
  });

  it('stops cleanly and exits 1 when it reports a fatal failure', async () => {
    const { run, calls, exitCodes, exited } = setUp({ failed: Promise.resolve(new Error('no database')) });
    await run;
    await exited;
    expect(calls).toEqual(['start', 'stop']);
    expect(exitCodes).toEqual([1]);
  });

  it('exits 1 when the clean stop exceeds the grace period', async () => {
    const { host, run, exitCodes, exited } = setUp({ graceMs: 1, stop: () => new Promise(() => undefined) });
    await run;
    host.emit('SIGTERM', 'SIGTERM');
    await exited;
    expect(exitCodes).toEqual([1]);
  });

  it('a signal during the start waits for the start, then stops', async () => {
    const starting = gate();
    const calls: string[] = [];
    const { host, run, exited, exitCodes } = setUp({
      start: async () => {
        await starting.opened;
        calls.push('started');
      },
      stop: async () => void calls.push('stopped'),
    });
    host.emit('SIGTERM', 'SIGTERM');
    starting.open();
    await Promise.all([run, exited]);
    expect(calls).toEqual(['started', 'stopped']);
    expect(exitCodes).toEqual([0]);
  });

  it('a signal aborts the waits of the start, and exits 0', async () => {
    let abort: (reason: Error) => void = () => undefined;
    const waiting = new Promise<void>((_, reject) => (abort = reject));
    const { host, run, calls, exited, exitCodes } = setUp({
      start: () => waiting,
      abortStart: () => abort(new Error('stopped')),
    });
    host.emit('SIGTERM', 'SIGTERM');
    await Promise.all([run, exited]);
    expect(calls).toEqual(['stop']);
    expect(exitCodes).toEqual([0]);
  });

  it('a failed start releases its resources and exits 1', async () => {
    const { run, calls, exitCodes } = setUp({ start: () => Promise.reject(new Error('no database')) });
    await run;
    expect(calls).toEqual(['stop']);
    expect(exitCodes).toEqual([1]);
  });

  it('a failed stop exits 1', async () => {
    const { host, run, exitCodes, exited } = setUp({ stop: () => Promise.reject(new Error('stuck')) });
    await run;
    host.emit('SIGTERM', 'SIGTERM');
    await exited;
    expect(exitCodes).toEqual([1]);
  });

  it.each(['unhandledRejection', 'uncaughtException'])('%s exits 1', async (event) => {
    const { host, run, exitCodes } = setUp();
    await run;
    host.emit(event, new Error('a defect'));
    expect(exitCodes).toEqual([1]);
  });
});
