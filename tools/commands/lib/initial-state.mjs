import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startProgram } from './start-program.mjs';

/**
 * The state folder of a gateway that has started once. Test suites start from copies of it,
 * because creating a database takes half of the processor time of a first start.
 *
 * @returns {Promise<string>} the value of `GATEWAY_TEST_INITIAL_STATE`
 */
export async function createInitialState() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-initial-'));
  // When tests run as root, PostgreSQL runs as another user, which must enter this folder.
  chmodSync(folder, 0o755);
  const gateway = startProgram('gateway', [], {
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    GATEWAY_PORT: '0',
    GATEWAY_DASHBOARD_PORT: '0',
    GATEWAY_ADMIN_PORT: '0',
    GATEWAY_STATE_DIR: folder,
  });
  try {
    await gateway.waitForOutput(/Health and metrics\s+http:\S+/);
  } finally {
    await gateway.stop();
  }
  // Copies that run concurrently need different ports.
  rmSync(path.join(folder, 'postgres', 'postgres-port'));
  return folder;
}
