import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BILLING_LEDGER_SCHEMA } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { startGateway, type GatewayProcess } from '@gateway/test-support';
import type { Pool } from 'pg';

/**
 * A real gateway process and a provider that outlives it. Its database is its
 * own embedded one, with durability on, or one that outlives it too. The test
 * reads it as well, to judge what is in it.
 */
export interface CrashTestEnv {
  readonly gateway: GatewayProcess;
  readonly emulator: ModelEmulator;
  /** Connections of the test's own to the gateway's database; new ones after a restart. */
  readonly pool: Pool;
  /** Ends the process as a crash would. */
  kill(): Promise<void>;
  /** SIGTERM; rejects unless it ends with 0. */
  stopCleanly(): Promise<void>;
  /** Starts it again on the same state folder. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** How long one generation may take in these tests: it decides when a lost hold is due. */
const GENERATION_TIMEOUT_MS = 4_000;

const ENVIRONMENT = {
  LOG_LEVEL: 'warn',
  GATEWAY_GENERATION_TIMEOUT_MS: String(GENERATION_TIMEOUT_MS),
  GATEWAY_HOLD_MARGIN_MS: '500',
  GATEWAY_IDEMPOTENCY_LEASE_MS: '3000',
};

export interface CrashTestEnvOptions {
  /** Of a database that outlives the gateway; its own embedded one when absent. */
  readonly databaseUrl?: string;
}

export async function startCrashTestEnv({ databaseUrl }: CrashTestEnvOptions = {}): Promise<CrashTestEnv> {
  const emulator = await startModelEmulator({ host: '127.0.0.1', port: 0 });
  const start = (stateDirectory?: string) =>
    startGateway({
      ...(stateDirectory === undefined ? {} : { stateDirectory }),
      env: {
        ...ENVIRONMENT,
        MODEL_EMULATOR_URL: emulator.url,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      },
    });
  const open = () => openPool(databaseUrl ?? embeddedUrl(gateway.stateDirectory));
  let gateway = await start();
  let pool = open();
  let isRunning = true;

  async function down(how: () => Promise<void>): Promise<void> {
    // An embedded database ends with the gateway; connections to one that stays are kept for the judge.
    if (databaseUrl === undefined) await pool.end();
    isRunning = false;
    await how();
  }

  const testEnv: CrashTestEnv = {
    get gateway() {
      return gateway;
    },
    emulator,
    get pool() {
      return pool;
    },
    kill: () => down(() => gateway.kill()),
    stopCleanly: () => down(() => gateway.stop({ keepState: true })),
    async restart() {
      gateway = await start(gateway.stateDirectory);
      if (databaseUrl === undefined) pool = open();
      isRunning = true;
    },
    async close() {
      if (!isRunning) await testEnv.restart();
      await down(() => gateway.stop());
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
