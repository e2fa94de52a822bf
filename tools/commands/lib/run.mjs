import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(fileURLToPath(new URL('../../..', import.meta.url)));

/** A failed step. The message contains its output, so it is printed without a stack trace. */
export class StepFailed extends Error {}

/** Invalid command-line arguments. */
export class Misused extends StepFailed {
  constructor(message, usage) {
    super(`${message}\n\nUsage: ${usage}`);
  }
}

/** For commands without options. */
export function rejectOptions(usage) {
  const [unknown] = process.argv.slice(2);
  if (unknown !== undefined) throw new Misused(`unknown option '${unknown}'`, usage);
}

/** Runs a program that inherits standard input and output. @returns its exit code */
export function runVisibly(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

/**
 * Runs a program without showing its output; with `isLowPriority`, in processor time that others leave.
 *
 * @returns the exit code and the output; with `stderr: false`, standard error only after a failure
 */
export function capture(command, args, env = {}, { cwd = root, stderr = true, isLowPriority = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    if (isLowPriority && child.pid !== undefined)
      os.setPriority(child.pid, os.constants.priority.PRIORITY_LOW);
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (stderr ? (output += chunk) : (errors += chunk)));
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code: code ?? 1, output: code === 0 ? output : output + errors }),
    );
  });
}

/** Exits with the error's message; only an unexpected error shows its stack trace. */
export function exitOnFailure(error, exitCode = 1) {
  process.stderr.write(`\n${error instanceof StepFailed ? error.message : (error.stack ?? error)}\n`);
  process.exit(error instanceof Misused ? 2 : exitCode);
}
