import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { withTimeout } from '@gateway/base';
import { pgbouncer } from '@gateway/dev-infra';
import { NODE_OPTIONS, sharedCompileCache } from './node-options';

/** The contents of dev.json, and the gateway's processes. */
export interface RunningGateway {
  /** With /v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dashboardUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly adminUrl: string;
  /** The admin URLs of every process, including `adminUrl`. */
  readonly adminUrls: readonly string[];
  readonly pid: number;
  readonly stateDirectory: string;
}

/** A gateway that the test started and controls. */
export interface GatewayProcess extends RunningGateway {
  /** Resolves with its exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  /** Everything that it has printed. */
  output(): string;
  /** Sends SIGTERM and waits; rejects unless the exit code is 0. Removes the state folder unless kept. */
  stop(options?: { keepState?: boolean }): Promise<void>;
  /** Sends SIGKILL and waits. Keeps the state folder. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** For a restart after a stop or a kill; a new temporary one when absent. */
  readonly stateDirectory?: string;
  /** Tests a first start, which creates the database. Other starts copy one if `npm test` has prepared it. */
  readonly isFirstStart?: boolean;
  /** Absolute path; the repository's own when absent. */
  readonly modelsFile?: string;
  /** Path of a start script from the root; the built program when absent. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Whether the end-to-end tests run against a cluster, with each service in its own
 * processes (`GATEWAY_TEST_DEPLOYMENT=cluster`), or against the gateway in one process.
 */
export const isClusterDeployment = (): boolean => process.env['GATEWAY_TEST_DEPLOYMENT'] === 'cluster';

/** The gateway that suites without settings of their own share. */
interface SharedGateway {
  readonly gateway: RunningGateway;
  readonly emulatorUrl: string;
}

/**
 * The cluster, or the gateway of this jest worker, that `npm test` has started. Suites of one worker run one after the
 * other, so no other suite uses it meanwhile.
 *
 * @returns undefined if each suite starts its own
 */
export function sharedGateway(): SharedGateway | undefined {
  const text = process.env['GATEWAY_TEST_SHARED'];
  if (!text) return undefined;
  const all = JSON.parse(text) as {
    pid: number;
    stateDirectory: string;
    emulatorUrl: string;
    adminUrl: string;
  }[];
  const worker = Number(process.env['JEST_WORKER_ID'] ?? 1);
  const own = all[(worker - 1) % all.length];
  if (!own) return undefined;
  const { pid, stateDirectory, emulatorUrl } = own;
  const adminUrls = readAdminUrls(stateDirectory) ?? [own.adminUrl];
  return {
    gateway: { ...readDevFile(stateDirectory), adminUrl: adminUrls[0] ?? '', adminUrls, pid, stateDirectory },
    emulatorUrl,
  };
}

const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 120_000;

/** Starts the built gateway, or cluster, on free ports and waits until it is ready. */
export async function startGateway(options: StartOptions = {}): Promise<GatewayProcess> {
  const root = workspaceRoot();
  const program = isClusterDeployment() ? 'cluster' : 'gateway';
  const main = path.join(root, options.script ?? `dist/${program}/main.js`);
  if (!existsSync(main))
    throw new Error(`The ${program} is not built: run \`npm run build\`, or \`npm test\`.`);
  const stateDirectory = options.stateDirectory ?? createStateDirectory(options);
  // A dev.json from before a restart stays, since it contains the demo key; the ready line shows that it is up to date.
  const child = spawn(process.execPath, [...NODE_OPTIONS, main, ...argumentsOf(program)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...sharedCompileCache(path.join(root, 'dist')),
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
  // After `exit`, output may still be unread.
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
    const adminUrl = await waitUntilReady(child, output, exited);
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
          if (code !== 0) throw new Error(`the gateway exited with code ${code}:\n${tail(output())}`);
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

/** A cluster connects through PgBouncer, as many production deployments do; CI must have it installed. */
function argumentsOf(program: 'gateway' | 'cluster'): readonly string[] {
  const hasPooler = pgbouncer.isAvailable() || process.env['CI'] === 'true';
  return program === 'cluster' && hasPooler ? ['--pooler'] : [];
}

/** Readable by all: when tests run as root, PostgreSQL runs as another user and stores its data here. */
function createStateDirectory({ isFirstStart = false, script, env }: StartOptions): string {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gateway-e2e-'));
  chmodSync(directory, 0o755);
  const initialState = process.env['GATEWAY_TEST_INITIAL_STATE'];
  const isEmbedded = !isClusterDeployment() && script === undefined && env?.['DATABASE_URL'] === undefined;
  // Unlike Node's own copy, `cp` keeps the owners of PostgreSQL's files.
  if (initialState && isEmbedded && !isFirstStart) execFileSync('cp', ['-a', `${initialState}/.`, directory]);
  return directory;
}

/** The nearest parent folder that contains the workspace. */
function workspaceRoot(from = process.cwd()): string {
  if (existsSync(path.join(from, 'nx.json'))) return from;
  const parent = path.dirname(from);
  if (parent === from) throw new Error('run the tests inside the workspace');
  return workspaceRoot(parent);
}

/** The file that the gateway writes for developers. */
export type DevFile = Pick<
  RunningGateway,
  'baseUrl' | 'apiKey' | 'dashboardUrl' | 'adminEmail' | 'adminPassword'
>;

/** @throws Error if it does not exist yet */
export function readDevFile(stateDirectory: string): DevFile {
  return JSON.parse(readFileSync(path.join(stateDirectory, 'dev.json'), 'utf8')) as RunningGateway;
}

/** From the file that a cluster writes. */
function readAdminUrls(stateDirectory: string): string[] | undefined {
  const file = path.join(stateDirectory, 'cluster.json');
  if (!existsSync(file)) return undefined;
  const { processes } = JSON.parse(readFileSync(file, 'utf8')) as { processes: { adminUrl: string }[] };
  return processes.map(({ adminUrl }) => adminUrl);
}

/** Waits for the line with the admin URL, the last one that is printed before the gateway is ready. */
async function waitUntilReady(
  child: ChildProcess,
  output: () => string,
  exited: Promise<number | null>,
): Promise<string> {
  const found = new Promise<string>((resolve) => {
    const check = () => {
      const match = /Health and metrics\s+(http:\/\/\S+)/.exec(output());
      if (match?.[1]) resolve(match[1]);
    };
    child.stdout?.on('data', check);
    check();
  });
  const exitedEarly = exited.then((code) => {
    throw new Error(`the gateway exited with code ${code} before it was ready:\n${tail(output())}`);
  });
  return withTimeout(Promise.race([found, exitedEarly]), START_TIMEOUT_MS, 'starting the gateway').catch(
    (error: unknown) => {
      throw new Error(`the gateway did not start:\n${tail(output())}`, { cause: error });
    },
  );
}

function tail(text: string): string {
  return text.slice(-4_000);
}
