import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTethered, type TetheredProcess } from '@gateway/dev-infra';
import { NODE_OPTIONS } from '@gateway/test-support';
import type { ServiceName } from './services';

/** A process of a service. It is restarted when it exits unexpectedly, as an orchestrator would do. */
export interface Replica {
  readonly service: ServiceName;
  /** Such as "edge-proxy-1". */
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly adminUrl: string;
  readonly rpcPort: number;
  /** Port for browsers and clients; used by the edge and the dashboard. */
  readonly httpPort: number;
  /** Pid of the current process; undefined during a restart. */
  pid(): number | undefined;
  isReady(): boolean;
  /** Number of starts. */
  starts(): number;
  start(): Promise<void>;
  /** Sends SIGTERM, waits for the exit and restarts it, optionally from other builds. */
  restart(programs?: string): Promise<void>;
  /** Simulates a crash; the process is restarted. */
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
  /** The folder with the services' builds. */
  readonly programs: string;
  readonly onLine: (line: string) => void;
}

const RESTART_DELAY_MS = 500;
/** Until a replica is ready, then less often: the checks of thirteen processes take a tenth of a core at that rate. */
const STARTING_POLL_MS = 200;
const READY_POLL_MS = 1_000;
const READY_TIMEOUT_MS = 1_000;

export function createReplica(options: ReplicaOptions): Replica {
  const { service, name, ports, environment, onLine } = options;
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
      args: [...NODE_OPTIONS, path.join(programs, service, 'main.js')],
      environment,
      onLine,
    });
    running = started;
    void started.exited.then(() => onExit(started));
    if (watch === undefined) watchReadiness();
  }

  async function onExit(exited: TetheredProcess): Promise<void> {
    if (running !== exited) return;
    running = undefined;
    ready = false;
    if (stopping) return;
    await delay(RESTART_DELAY_MS);
    if (!stopping && running === undefined) await start();
  }

  function watchReadiness(): void {
    watch = setTimeout(
      () => void checkReadiness().then(() => !stopping && watchReadiness()),
      ready ? READY_POLL_MS : STARTING_POLL_MS,
    );
  }

  async function checkReadiness(): Promise<void> {
    try {
      const response = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
      await response.arrayBuffer();
      ready = response.ok && running !== undefined;
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
    async restart(newPrograms = programs) {
      programs = newPrograms;
      const before = running;
      // Removes it from the load balancer before it stops listening.
      ready = false;
      before?.signal('SIGTERM');
      await before?.exited;
    },
    kill: () => running?.signal('SIGKILL'),
    pause: () => running?.signal('SIGSTOP'),
    resume: () => running?.signal('SIGCONT'),
    async stop() {
      stopping = true;
      clearTimeout(watch);
      watch = undefined;
      ready = false;
      running?.signal('SIGCONT');
      await running?.stop();
    },
  };
}
