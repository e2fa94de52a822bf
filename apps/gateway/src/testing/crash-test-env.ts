import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BILLING_LEDGER_SCHEMA } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { startGateway, type GatewayProcess } from '@gateway/test-support';
import type { Pool } from 'pg';

/**
 * A real gateway process and a provider that survives its crashes. Its database is the
 * embedded one, with durability, or an external one that also survives. The test reads
 * the database to check it.
 */
export interface CrashTestEnv {
  readonly gateway: GatewayProcess;
  readonly emulator: ModelEmulator;
  /** The test's connections to the gateway's database; recreated after a restart. */
  readonly pool: Pool;
  /** Simulates a crash. */
  kill(): Promise<void>;
  /** Sends SIGTERM; rejects unless the exit code is 0. */
  stopCleanly(): Promise<void>;
  /** Restarts it on the same state folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Timeout of a generation, which determines the deadline of an orphaned hold. */
const GENERATION_TIMEOUT_MS = 4_000;

const ENVIRONMENT = {
  LOG_LEVEL: 'warn',
  GATEWAY_GENERATION_TIMEOUT_MS: String(GENERATION_TIMEOUT_MS),
  GATEWAY_HOLD_MARGIN_MS: '500',
  GATEWAY_IDEMPOTENCY_LEASE_MS: '3000',
};

export interface CrashTestEnvOptions {
  /** URL of an external database; the embedded one when absent. */
  readonly databaseUrl?: string;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startCrashTestEnv({
  databaseUrl,
  env = {},
}: CrashTestEnvOptions = {}): Promise<CrashTestEnv> {
  const emulator = await startModelEmulator({ host: '127.0.0.1', port: 0 });
  const start = (stateDirectory?: string) =>
    startGateway({
      ...(stateDirectory === undefined ? {} : { stateDirectory }),
      env: {
        ...ENVIRONMENT,
        ...env,
        MODEL_EMULATOR_URL: emulator.url,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      },
    });
  const open = () => openPool(databaseUrl ?? embeddedUrl(gateway.stateDirectory));
  let gateway = await start();
  let pool = open();
  let isRunning = true;

  async function bringDown(stop: () => Promise<void>): Promise<void> {
    // The embedded database stops with the gateway; connections to an external one stay open for checks.
    if (databaseUrl === undefined) await pool.end();
    isRunning = false;
    await stop();
  }

  const testEnv: CrashTestEnv = {
    get gateway() {
      return gateway;
    },
    emulator,
    get pool() {
      return pool;
    },
    kill: () => bringDown(() => gateway.kill()),
    stopCleanly: () => bringDown(() => gateway.stop({ keepState: true })),
    async restart() {
      gateway = await start(gateway.stateDirectory);
      if (databaseUrl === undefined) pool = open();
      isRunning = true;
    },
    async close() {
      if (!isRunning) await testEnv.restart();
      await bringDown(() => gateway.stop());
      if (!pool.ended) await pool.end();
      await emulator.close();
    },
  };
  return testEnv;
}

function embeddedUrl(stateDirectory: string): string {
  const read = (name: string) => readFileSync(path.join(stateDirectory, 'postgres', name), 'utf8').trim();
  return `postgresql://gateway:${read('postgres-password')}@127.0.0.1:${read('postgres-port')}/gateway`;
}

function openPool(url: string): Pool {
  return createPool({
    url,
    schema: BILLING_LEDGER_SCHEMA,
    applicationName: 'auditor',
    maxConnections: 2,
  });
}
