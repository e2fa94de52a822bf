import cluster, { type Worker } from 'node:cluster';
import { backoffMs, type Backoff } from '@gateway/base';
import type { EdgeProxyModule } from '@gateway/edge-proxy';
import type { Logger } from '@gateway/runtime';
import type { Beginning, Order, Report } from './messages';

/** A worker that dies again and again is begun ever later, and for ever: the others go on meanwhile. */
const REPLACING: Backoff = { firstMs: 100, maxMs: 5_000 };
/** One that was open for this long has got over what it died of before. */
const RECOVERED_AFTER_MS = 60_000;
/** Beyond what its requests are given, for closing what it used. */
const STOP_MARGIN_MS = 5_000;
/** A worker that has not opened its port by then never will. */
const BEGIN_TIMEOUT_MS = 60_000;
/** A worker that is busy tells its metrics with the next scrape. */
const METRICS_TIMEOUT_MS = 2_000;

export interface EdgeWorkersOptions {
  readonly workers: number;
  /** Asked when workers start: by then whoever they call is there. */
  readonly beginningOf: (worker: number) => Beginning;
  /** How long requests that run are given at the end. */
  readonly stopGraceMs: number;
  readonly log: Logger;
}

/** Edges and routers in processes of their own, which share the public port. */
export interface EdgeWorkers extends EdgeProxyModule {
  /** Of each worker that tells them now, in the format that an `accept` header asks for. */
  metrics(accept: string | undefined): Promise<readonly string[]>;
}

interface Place {
  readonly worker: number;
  process: Worker | undefined;
  port: number | undefined;
  openSince: number;
  deaths: number;
}

/**
 * Starts one process for each worker and replaces those that die. What a dead
 * one leaves behind is what a crash of the gateway leaves: leases and holds,
 * which end by themselves, and a spool, which its successor reads.
 */
export function createEdgeWorkers(options: EdgeWorkersOptions): EdgeWorkers {
  const { log, beginningOf, stopGraceMs } = options;
  const places: Place[] = Array.from({ length: options.workers }, (_, index) => ({
    worker: index + 1,
    process: undefined,
    port: undefined,
    openSince: 0,
    deaths: 0,
  }));
  // The program that this file is bundled into. What the process was started with may only have loaded that.
  cluster.setupPrimary({ exec: __filename, execArgv: [...process.execArgv, '--enable-source-maps'] });
  const timers = new Set<NodeJS.Timeout>();
  let stopping = false;
  let questions = 0;

  /** Resolves when it listens; rejects when it cannot begin, or dies before. */
  function begin(place: Place): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = cluster.fork();
      place.process = child;
      const overdue = setTimeout(() => {
        log.error({ worker: place.worker }, 'a worker takes too long to begin and is killed');
        child.process.kill('SIGKILL');
      }, BEGIN_TIMEOUT_MS);
      child.on('message', (report: Report) => {
        if (report.kind === 'open') {
          clearTimeout(overdue);
          place.port = report.port;
          place.openSince = Date.now();
          resolve();
        }
        if (report.kind === 'failed') {
          reject(Object.assign(new Error(report.message), { code: report.code, port: report.port }));
        }
      });
      child.once('exit', (code, signal) => {
        clearTimeout(overdue);
        place.process = undefined;
        place.port = undefined;
        reject(new Error(`worker ${place.worker} ended with ${signal ?? code} before it was open`));
      });
      tell(child, { kind: 'begin', beginning: beginningOf(place.worker) });
    });
  }

  async function keep(place: Place): Promise<void> {
    await begin(place);
    place.process?.once('exit', (code, signal) => {
      if (stopping) return;
      log.error({ worker: place.worker, code, signal }, 'a worker ended and is replaced');
      if (Date.now() - place.openSince > RECOVERED_AFTER_MS) place.deaths = 0;
      replace(place);
    });
  }

  function replace(place: Place): void {
    place.deaths += 1;
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        if (stopping) return;
        keep(place).catch((error: unknown) => {
          if (stopping) return;
          log.error({ err: error, worker: place.worker }, 'a worker cannot begin; it is tried again');
          place.process?.process.kill('SIGKILL');
          replace(place);
        });
      },
      place.deaths === 1 ? 0 : backoffMs(place.deaths, REPLACING, Math.random()),
    );
    timers.add(timer);
  }

  function end({ process: child, worker }: Place): Promise<void> {
    if (child === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const overdue = setTimeout(() => {
        log.error({ worker }, 'a worker takes too long to end and is killed');
        child.process.kill('SIGKILL');
      }, stopGraceMs + STOP_MARGIN_MS);
      child.once('exit', () => {
        clearTimeout(overdue);
        resolve();
      });
      tell(child, { kind: 'stop' });
    });
  }

  function metricsOf(child: Worker, accept: string | undefined): Promise<string | undefined> {
    const question = (questions += 1);
    return new Promise((resolve) => {
      const answer = (text?: string) => {
        clearTimeout(timer);
        child.off('message', hear).off('exit', gone);
        resolve(text);
      };
      const hear = (report: Report) => {
        if (report.kind === 'metrics' && report.question === question) answer(report.text);
      };
      const gone = () => answer();
      const timer = setTimeout(answer, METRICS_TIMEOUT_MS);
      child.on('message', hear).once('exit', gone);
      tell(child, { kind: 'tell_metrics', question, accept });
    });
  }

  const open = () => places.filter(({ port }) => port !== undefined);

  return {
    name: 'edge-proxy',
    services: [],
    consumers: [],
    async start() {
      await Promise.all(places.map(keep));
      log.info({ workers: places.length }, 'workers take requests');
    },
    isReady: () => !stopping && open().length > 0,
    port: () => open()[0]?.port,
    async metrics(accept) {
      const told = await Promise.all(
        open().flatMap(({ process: child }) => (child ? [metricsOf(child, accept)] : [])),
      );
      return told.filter((text) => text !== undefined);
    },
    async stop() {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(places.map(end));
    },
  };
}

/** One that has just died hears it no more, and its end is told by its exit. */
function tell(child: Worker, order: Order): void {
  if (child.isConnected()) child.send(order, () => undefined);
}
