import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTethered, type TetheredProcess } from '@gateway/dev-infra';
import { NODE_OPTIONS } from '@gateway/test-support';
import type { ServiceName } from './services';

/** One process of a service. When it ends by itself it is started again, as an orchestrator would. */
export interface Replica {
  readonly service: ServiceName;
  /** Such as "edge-proxy-1". */
  readonly name: string;
  /** Its settings. */
  readonly environment: Readonly<Record<string, string>>;
  readonly adminUrl: string;
  readonly rpcPort: number;
  /** Where browsers and clients reach it; of the edge and the dashboard. */
  readonly httpPort: number;
  /** Of the process that runs now; undefined between two. */
  pid(): number | undefined;
  isReady(): boolean;
  /** How often it was started. */
  starts(): number;
  start(): Promise<void>;
  /** Asks it to end, waits until it has, and starts it again, from other builds when they are named. */
  restart(programs?: string): Promise<void>;
  /** As a crash would; it is started again after a moment. */
  kill(): void;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  readonly service: ServiceName;
  readonly name: string;
  readonly ports: { readonly admin: number; readonly rpc: number; readonly http: number };
  readonly environment: Readonly<Record<string, string>>;
  /** Where the builds of the services are. */
  readonly programs: string;
  readonly onLine: (line: string) => void;
  readonly nodeOptions?: readonly string[];
}

const RESTART_PAUSE_MS = 500;
const READY_POLL_MS = 200;
const READY_TIMEOUT_MS = 1_000;

export function createReplica(options: ReplicaOptions): Replica {
  const { service, name, ports, environment, onLine, nodeOptions = [] } = options;
  const adminUrl = `http://127.0.0.1:${ports.admin}`;
  let { programs } = options;
  let running: TetheredProcess | undefined;
  let stopping = false;
  let ready = false;
  let starts = 0;
  let watch: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    starts += 1;
    stopping = false;
    const started = await startTethered({
      command: process.execPath,
      args: [...NODE_OPTIONS, ...nodeOptions, path.join(programs, service, 'main.js')],
      environment,
      onLine,
    });
    running = started;
    void started.ended.then(() => onEnded(started));
    watch ??= setInterval(() => void look(), READY_POLL_MS);
  }

  async function onEnded(ended: TetheredProcess): Promise<void> {
    if (running !== ended) return;
    running = undefined;
    ready = false;
    if (stopping) return;
    await delay(RESTART_PAUSE_MS);
    if (!stopping && running === undefined) await start();
  }

  async function look(): Promise<void> {
    try {
      const answer = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
      await answer.arrayBuffer();
      ready = answer.ok && running !== undefined;
    } catch {
      ready = false;
    }
  }

  return {
    service,
    name,
    environment,
    adminUrl,
    rpcPort: ports.rpc,
    httpPort: ports.http,
    pid: () => running?.pid,
    isReady: () => ready,
    starts: () => starts,
    start,
    async restart(others = programs) {
      programs = others;
      const before = running;
      // Before it listens no more, as an ingress is told.
      ready = false;
      before?.signal('SIGTERM');
      await before?.ended;
    },
    kill: () => running?.signal('SIGKILL'),
    pause: () => running?.signal('SIGSTOP'),
    resume: () => running?.signal('SIGCONT'),
    async stop() {
      stopping = true;
      clearInterval(watch);
      watch = undefined;
      ready = false;
      running?.signal('SIGCONT');
      await running?.stop();
    },
  };
}
