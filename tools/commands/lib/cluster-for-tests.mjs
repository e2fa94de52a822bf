import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root, StepFailed } from './run.mjs';

const START_TIMEOUT_MS = 180_000;

/**
 * One cluster for all suites that want no settings of their own, with an
 * emulator that is as fast as it can be. What it prints is shown only when it
 * does not start: the suites judge what it answers.
 *
 * @param {{ withPooler: boolean }} options
 * @returns {Promise<{ description: string, stop: () => Promise<void> }>}
 *   what the suites are told by `GATEWAY_TEST_CLUSTER`
 */
export async function startClusterForTests({ withPooler }) {
  const programs = [];
  const stop = async () => {
    for (const program of programs.reverse()) await program.stop();
  };
  try {
    const emulator = startProgram('model-emulator', ['--port', '0']);
    programs.push(emulator);
    const [, emulatorUrl] = await emulator.says(/listens on (http:\S+)/);
    const stateDirectory = mkdtempSync(path.join(os.tmpdir(), 'gateway-cluster-'));
    // As root, the database's own user could not enter it otherwise.
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
    await cluster.says(/Health and metrics\s+http:\S+/);
    return { description: JSON.stringify({ stateDirectory, emulatorUrl, pid: cluster.pid }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startProgram(name, args, environment = {}) {
  const child = spawn(process.execPath, [path.join('dist', name, 'main.js'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: os.tmpdir(), ...environment },
  });
  let output = '';
  const listeners = new Set();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-100_000);
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));

  /** Resolves with the match of what it printed; rejects when it ends before, or says nothing of the kind. */
  const says = async (pattern) => {
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        const fail = (what) => reject(new StepFailed(`${output.trim()}\n\n${name} ${what}.`));
        const look = () => {
          const match = pattern.exec(output);
          if (match) resolve(match);
        };
        listeners.add(look);
        look();
        timer = setTimeout(() => fail('was not ready in time'), START_TIMEOUT_MS);
        void ended.then((code) => fail(`ended with ${code} before it was ready`));
      });
    } finally {
      clearTimeout(timer);
      listeners.clear();
    }
  };

  return {
    pid: child.pid,
    says,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
