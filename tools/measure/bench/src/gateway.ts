import { descendantsOf } from '@gateway/dev-infra';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@gateway/base';
import {
  type AdminClient,
  createTenant,
  NODE_OPTIONS,
  readDevFile,
  type DevFile,
  type Limits,
  signIn,
  spendingOf,
} from '@gateway/test-support';
import type { Destination } from './load';
import { isNode, pin, type Cores } from './machine';
import { modelsFile } from './models-file';
import type { Child, Processes } from './processes';

const READY_TIMEOUT_MS = 180_000;
const HOLDS_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
const CREDIT_USD = '100000.00';
/** Every limit is set, but far above the load: counting has a cost even when no limit is reached. */
const LIMITS: Partial<Limits> = {
  requests_per_minute: 10_000_000,
  tokens_per_minute: 2_000_000_000,
  daily_budget_usd: CREDIT_USD,
  concurrency: 10_000,
};

/** The built gateway and an organization with every limit, a budget, credit and one key. */
export interface RunningGateway {
  readonly child: Child;
  readonly destination: Destination;
  /** Current Node.js processes of the gateway or the cluster. */
  nodePids(): readonly number[];
  /** Current PostgreSQL processes. */
  databasePids(): readonly number[];
  /** Waits until there are no holds, then returns the organization's amounts. */
  finalBalance(): Promise<{ usedNanoUsd: bigint; heldNanoUsd: bigint }>;
}

/** The dist folder that contains the bench. */
const ownBuilds = (): string => path.resolve(path.dirname(process.argv[1] ?? '.'), '..');

export interface GatewayUnderTest {
  /** Starts a cluster with these arguments instead of the gateway in one process. */
  readonly clusterArguments?: readonly string[] | undefined;
  /** The dist folder of another build. */
  readonly builds?: string;
}

export async function startGateway(
  processes: Processes,
  cores: Cores | undefined,
  upstreamPort: number,
  { clusterArguments, builds = ownBuilds() }: GatewayUnderTest = {},
): Promise<RunningGateway> {
  const program = clusterArguments === undefined ? 'gateway' : 'cluster';
  const bundle = path.join(builds, program, 'main.js');
  if (!existsSync(bundle)) throw new Error(`The gateway is not built (${bundle}): run \`npm run build\`.`);
  const state = mkdtempSync(path.join(os.tmpdir(), 'gateway-bench-'));
  // PostgreSQL may run as another user, which must enter this folder.
  chmodSync(state, 0o755);
  process.once('exit', () => rmSync(state, { recursive: true, force: true, maxRetries: 3 }));
  const models = path.join(state, 'models.yaml');
  writeFileSync(models, modelsFile(upstreamPort));
  const command = [...NODE_OPTIONS, bundle, ...(clusterArguments ?? [])];
  const child = processes.start('measured', command, {
    cwd: state,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_ENV: 'production',
      GATEWAY_PORT: '0',
      GATEWAY_DASHBOARD_PORT: '0',
      GATEWAY_ADMIN_PORT: '0',
      GATEWAY_STATE_DIR: state,
      GATEWAY_MODELS_FILE: models,
      ...openTelemetrySettings(),
    },
  });
  const dev = await waitUntilReady(child, state);
  const started = () => descendantsOf(child.pid);
  const databasePids = () => started().filter((pid) => !isNode(pid));
  processes.adopt(started());
  // PostgreSQL inherited the gateway's core. Its later processes inherit the core of its first one.
  if (cores !== undefined) for (const pid of databasePids()) pin(pid, cores.others);

  const dashboard = await signIn(dev.dashboardUrl, dev.adminEmail, dev.adminPassword);
  const tenant = await createTenant(dashboard, { name: 'Bench', credit: CREDIT_USD, limits: LIMITS });
  const base = new URL(dev.baseUrl);
  return {
    child,
    destination: {
      port: Number(base.port),
      path: `${base.pathname.replace(/\/$/, '')}/chat/completions`,
      apiKey: tenant.apiKey,
    },
    nodePids: () => [child.pid, ...started().filter(isNode)],
    databasePids,
    finalBalance: () => finalBalance(dashboard, tenant.organizationId),
  };
}

/** Passed on, so that the cost of tracing can be measured as the difference between two runs. */
function openTelemetrySettings(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')));
}

/** Waits for dev.json and for a successful API response to its key. */
async function waitUntilReady(child: Child, state: string): Promise<DevFile> {
  const poll = async (): Promise<DevFile> => {
    for (;;) {
      if (child.process.exitCode !== null || child.process.signalCode !== null) {
        throw new Error(`the gateway exited before it was ready:\n${child.output()}`);
      }
      const dev = devFileIn(state);
      if (dev !== undefined && (await isResponding(dev))) return dev;
      await sleep(POLL_MS);
    }
  };
  try {
    return await withTimeout(poll(), READY_TIMEOUT_MS, 'starting the gateway');
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${child.output()}`);
  }
}

function devFileIn(state: string): DevFile | undefined {
  try {
    return readDevFile(state);
  } catch {
    // Missing or incomplete.
    return undefined;
  }
}

async function isResponding(dev: DevFile): Promise<boolean> {
  try {
    const response = await fetch(`${dev.baseUrl}/models`, {
      headers: { authorization: `Bearer ${dev.apiKey}` },
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Holds are closed shortly after the last response; a remaining hold is a leak, which the caller reports. */
async function finalBalance(dashboard: AdminClient, organizationId: string) {
  const deadlineMs = Date.now() + HOLDS_TIMEOUT_MS;
  for (;;) {
    const balance = await spendingOf(dashboard, organizationId);
    if (balance.heldNanoUsd === 0n || Date.now() > deadlineMs) return balance;
    await sleep(POLL_MS);
  }
}
