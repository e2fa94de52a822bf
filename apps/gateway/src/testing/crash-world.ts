import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BILLING_LEDGER_SCHEMA } from '@gateway/billing-ledger';
import { createPool } from '@gateway/database';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { startGateway, type GatewayProcess } from '@gateway/testing';
import { type Pool } from 'pg';

/**
 * A real gateway process on its own embedded database, with durability on, and
 * a provider that outlives it. The database is also open to the test, which
 * judges what is in it.
 */
export interface CrashWorld {
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
export const GENERATION_TIMEOUT_MS = 4_000;

const ENVIRONMENT = {
  LOG_LEVEL: 'warn',
  GATEWAY_GENERATION_TIMEOUT_MS: String(GENERATION_TIMEOUT_MS),
  GATEWAY_HOLD_MARGIN_MS: '500',
  GATEWAY_IDEMPOTENCY_LEASE_MS: '3000',
};

export async function startCrashWorld(env: Readonly<Record<string, string>> = {}): Promise<CrashWorld> {
  const emulator = await startModelEmulator({ host: '127.0.0.1', port: 0 });
  const start = (stateDirectory?: string) =>
    startGateway({
      ...(stateDirectory === undefined ? {} : { stateDirectory }),
      env: { ...ENVIRONMENT, MODEL_EMULATOR_URL: emulator.url, ...env },
    });
  let gateway = await start();
  let pool = openPool(gateway.stateDirectory);
  let isRunning = true;

  async function down(how: () => Promise<void>): Promise<void> {
    await pool.end();
    await how();
    isRunning = false;
  }

  const world: CrashWorld = {
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
      pool = openPool(gateway.stateDirectory);
      isRunning = true;
    },
    async close() {
      if (!isRunning) await world.restart();
      await down(() => gateway.stop());
      await emulator.close();
    },
  };
  return world;
}

function openPool(stateDirectory: string): Pool {
  const read = (name: string) => readFileSync(path.join(stateDirectory, 'postgres', name), 'utf8').trim();
  return createPool({
    url: `postgresql://gateway:${read('postgres-password')}@127.0.0.1:${read('postgres-port')}/gateway`,
    schema: BILLING_LEDGER_SCHEMA,
    applicationName: 'auditor',
    maxConnections: 2,
  });
}
