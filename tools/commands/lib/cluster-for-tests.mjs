import { chmodSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startProgram } from './start-program.mjs';

/**
 * Starts the cluster that all suites without settings of their own share, with a
 * model emulator without delays. Its output is shown only when it does not start.
 *
 * @param {{ withPooler: boolean }} options
 * @returns {Promise<{ description: string, stop: () => Promise<void> }>}
 *   the description is the value of `GATEWAY_TEST_CLUSTER`
 */
export async function startClusterForTests({ withPooler }) {
  const programs = [];
  const stop = async () => {
    for (const program of programs.reverse()) await program.stop();
  };
  try {
    const emulator = startProgram('model-emulator', ['--port', '0']);
    programs.push(emulator);
    const [, emulatorUrl] = await emulator.waitForOutput(/listens on (http:\S+)/);
    const stateDirectory = mkdtempSync(path.join(os.tmpdir(), 'gateway-cluster-'));
    // When tests run as root, PostgreSQL runs as another user, which must enter this folder.
    chmodSync(stateDirectory, 0o755);
    const cluster = startProgram('cluster', withPooler ? ['--pooler'] : [], {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      GATEWAY_PORT: '0',
      GATEWAY_DASHBOARD_PORT: '0',
      GATEWAY_STATE_DIR: stateDirectory,
      MODEL_EMULATOR_URL: emulatorUrl,
    });
    programs.push(cluster);
    await cluster.waitForOutput(/Health and metrics\s+http:\S+/);
    return { description: JSON.stringify({ stateDirectory, emulatorUrl, pid: cluster.pid }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
