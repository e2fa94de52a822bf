import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startProgram } from './start-program.mjs';

/**
 * Starts a gateway that suites without settings of their own share, with a model emulator without delays. Its output is
 * shown only when it does not start.
 *
 * @param {'cluster' | 'gateway'} program
 * @param {{ options?: string[], initialState?: string }} [settings] options of the program, and a folder to start from
 * @returns {Promise<{ description: object, stop: () => Promise<void> }>}
 *   a list of descriptions is the value of `GATEWAY_TEST_SHARED`
 */
export async function startSharedGateway(program, { options = [], initialState } = {}) {
  const stateDirectory = mkdtempSync(path.join(os.tmpdir(), `gateway-${program}-`));
  // When tests run as root, PostgreSQL runs as another user, which must enter this folder.
  chmodSync(stateDirectory, 0o755);
  // Unlike Node's own copy, `cp` keeps the owners of PostgreSQL's files.
  if (initialState) execFileSync('cp', ['-a', `${initialState}/.`, stateDirectory]);
  const programs = [];
  const stop = async () => {
    for (const each of programs.reverse()) await each.stop();
  };
  try {
    const emulator = startProgram('model-emulator', ['--port', '0']);
    programs.push(emulator);
    const [, emulatorUrl] = await emulator.waitForOutput(/listens on (http:\S+)/);
    const gateway = startProgram(program, options, {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      GATEWAY_PORT: '0',
      GATEWAY_DASHBOARD_PORT: '0',
      GATEWAY_ADMIN_PORT: '0',
      GATEWAY_STATE_DIR: stateDirectory,
      MODEL_EMULATOR_URL: emulatorUrl,
    });
    programs.push(gateway);
    const [, adminUrl] = await gateway.waitForOutput(/Health and metrics\s+(http:\S+)/);
    return { description: { stateDirectory, emulatorUrl, adminUrl, pid: gateway.pid }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
