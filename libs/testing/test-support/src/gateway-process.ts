import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { withTimeout } from '@gateway/base';
import { pgbouncer } from '@gateway/dev-infra';
import { NODE_OPTIONS } from './node-options';

/** What the gateway writes to dev.json, and where its processes are. */
export interface RunningGateway {
  /** With /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dashboardUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly adminUrl: string;
  /** Of every process of it, the one above among them. */
  readonly adminUrls: readonly string[];
  readonly pid: number;
  readonly stateDirectory: string;
}

/** One that the tests started, and so how to end it. */
export interface GatewayProcess extends RunningGateway {
  /** Resolves with its exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  /** Everything it printed so far. */
  output(): string;
  /** SIGTERM and wait; rejects unless it ends with 0. Removes the state folder unless kept. */
  stop(options?: { keepState?: boolean }): Promise<void>;
  /** SIGKILL and wait. The state folder stays. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** Started on again after a stop or a kill; a new temporary one when absent. */
  readonly stateDirectory?: string;
  /** Absolute path; the repository's own when absent. */
  readonly modelsFile?: string;
  /** Of what `npm start` runs, from the root; the built program itself when absent. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * What the end-to-end tests run against: the gateway in one process, or, with
 * `GATEWAY_TEST_DEPLOYMENT=cluster`, each service in processes of its own.
 */
export const testsCluster = (): boolean => process.env['GATEWAY_TEST_DEPLOYMENT'] === 'cluster';

/** A cluster that runs for all suites that want nothing special of it, as its starter describes it. */
interface SharedCluster {
  readonly gateway: RunningGateway;
  readonly emulatorUrl: string;
}

/** @returns undefined when each suite starts its own. */
export function sharedCluster(): SharedCluster | undefined {
  const text = process.env['GATEWAY_TEST_CLUSTER'];
  if (!testsCluster() || !text) return undefined;
  const { pid, stateDirectory, emulatorUrl } = JSON.parse(text) as {
    pid: number;
    stateDirectory: string;
    emulatorUrl: string;
  };
  const adminUrls = readAdminUrls(stateDirectory) ?? [];
  return {
    gateway: { ...readDevFile(stateDirectory), adminUrl: adminUrls[0] ?? '', adminUrls, pid, stateDirectory },
    emulatorUrl,
  };
}

const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 120_000;

/** Starts the built gateway, or cluster, on free ports and waits until it serves. */
export async function startGateway(options: StartOptions = {}): Promise<GatewayProcess> {
  const root = workspaceRoot();
  const program = testsCluster() ? 'cluster' : 'gateway';
  const main = path.join(root, options.script ?? `dist/${program}/main.js`);
  if (!existsSync(main))
    throw new Error(`The ${program} is not built: run \`npm run build\`, or \`npm test\`.`);
  const stateDirectory = options.stateDirectory ?? makeStateDirectory();
  // What it wrote before a restart keeps the demo key, so it stays; its new content is told by the ready line.
  const child = spawn(process.execPath, [...NODE_OPTIONS, main, ...argumentsOf(program)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'production',
      GATEWAY_PORT: '0',
      GATEWAY_DASHBOARD_PORT: '0',
      GATEWAY_ADMIN_PORT: '0',
      GATEWAY_STATE_DIR: stateDirectory,
      ...(options.modelsFile ? { GATEWAY_MODELS_FILE: options.modelsFile } : {}),
      ...options.env,
    },
  });
  const chunks: string[] = [];
  const logFile = createWriteStream(path.join(stateDirectory, 'gateway.log'), { flags: 'a' });
  // Later than its exit: its last output is still to be read.
  child.once('close', () => logFile.end());
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      chunks.push(text);
      logFile.write(text);
    });
  }
  const output = () => chunks.join('');
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));

  try {
    const adminUrl = await ready(child, output, exited);
    return {
      ...readDevFile(stateDirectory),
      adminUrl,
      adminUrls: readAdminUrls(stateDirectory) ?? [adminUrl],
      pid: child.pid as number,
      stateDirectory,
      exited,
      output,
      async stop({ keepState = false } = {}) {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill('SIGTERM');
          const code = await withTimeout(exited, STOP_TIMEOUT_MS, 'stopping the gateway').catch(
            (error: unknown) => {
              throw new Error(`the gateway did not stop:\n${output()}`, { cause: error });
            },
          );
          if (code !== 0) throw new Error(`the gateway ended with ${code}:\n${tail(output())}`);
        }
        if (!keepState) rmSync(stateDirectory, { recursive: true, force: true });
      },
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    throw error;
  }
}

/** A cluster is reached as many a production is: through a pooler, which CI has to have. */
function argumentsOf(program: 'gateway' | 'cluster'): readonly string[] {
  const hasPooler = pgbouncer.isAvailable() || process.env['CI'] === 'true';
  return program === 'cluster' && hasPooler ? ['--pooler'] : [];
}

/** One that everyone may enter: as root, the database's own user could not, and would keep its data outside. */
function makeStateDirectory(): string {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gateway-e2e-'));
  chmodSync(directory, 0o755);
  return directory;
}

/** The nearest folder above the current one that holds the workspace. */
function workspaceRoot(from = process.cwd()): string {
  if (existsSync(path.join(from, 'nx.json'))) return from;
  const parent = path.dirname(from);
  if (parent === from) throw new Error('run the tests from within the workspace');
  return workspaceRoot(parent);
}

/** What the gateway writes for its developer. */
export type DevFile = Pick<
  RunningGateway,
  'baseUrl' | 'apiKey' | 'dashboardUrl' | 'adminEmail' | 'adminPassword'
>;

/** @throws Error when there is none yet. */
export function readDevFile(stateDirectory: string): DevFile {
  return JSON.parse(readFileSync(path.join(stateDirectory, 'dev.json'), 'utf8')) as RunningGateway;
}

/** As a cluster writes it down. */
function readAdminUrls(stateDirectory: string): string[] | undefined {
  const file = path.join(stateDirectory, 'cluster.json');
  if (!existsSync(file)) return undefined;
  const { processes } = JSON.parse(readFileSync(file, 'utf8')) as { processes: { adminUrl: string }[] };
  return processes.map(({ adminUrl }) => adminUrl);
}

/** Waits for the line that says where the admin port is: the last one before the gateway is ready. */
async function ready(
  child: ChildProcess,
  output: () => string,
  exited: Promise<number | null>,
): Promise<string> {
  const found = new Promise<string>((resolve) => {
    const look = () => {
      const match = /Health and metrics\s+(http:\/\/\S+)/.exec(output());
      if (match?.[1]) resolve(match[1]);
    };
    child.stdout?.on('data', look);
    look();
  });
  const early = exited.then((code) => {
    throw new Error(`the gateway ended with ${code} before it was ready:\n${tail(output())}`);
  });
  return withTimeout(Promise.race([found, early]), START_TIMEOUT_MS, 'starting the gateway').catch(
    (error: unknown) => {
      throw new Error(`the gateway did not start:\n${tail(output())}`, { cause: error });
    },
  );
}

function tail(text: string): string {
  return text.slice(-4_000);
}
