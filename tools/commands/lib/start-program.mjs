import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { root, StepFailed } from './run.mjs';

const START_TIMEOUT_MS = 180_000;

/** Starts a built program. Its output is shown only when it does not start. */
export function startProgram(name, args, environment = {}) {
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
  const exited = new Promise((resolve) => child.once('exit', resolve));

  /** Resolves with the match; rejects when the program exits first or the timeout expires. */
  const waitForOutput = async (pattern) => {
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        const fail = (reason) => reject(new StepFailed(`${output.trim()}\n\n${name} ${reason}.`));
        const check = () => {
          const match = pattern.exec(output);
          if (match) resolve(match);
        };
        listeners.add(check);
        check();
        timer = setTimeout(() => fail(`was not ready within ${START_TIMEOUT_MS / 1000} s`), START_TIMEOUT_MS);
        void exited.then((code) => fail(`exited with code ${code} before it was ready`));
      });
    } finally {
      clearTimeout(timer);
      listeners.clear();
    }
  };

  return {
    pid: child.pid,
    waitForOutput,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
