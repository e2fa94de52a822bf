import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(fileURLToPath(new URL('../../..', import.meta.url)));

/** A step that failed: its output is part of the message, so nothing else needs printing. */
export class StepFailed extends Error {}

/** A command that was called with what it does not know. */
export class Misused extends StepFailed {
  constructor(message, usage) {
    super(`${message}\n\nUsage: ${usage}`);
  }
}

/** For commands without options. */
export function takesNoOptions(usage) {
  const [unknown] = process.argv.slice(2);
  if (unknown !== undefined) throw new Misused(`there is no option '${unknown}'`, usage);
}

/** Runs a program with our own input and output; answers its exit code. */
export function runVisibly(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

/** Answers the exit code, and what the program wrote; only to its output with `stderr: false`, unless it failed. */
export function capture(command, args, env = {}, { cwd = root, stderr = true } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
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

/** Ends the process with the failure's text instead of a stack trace. */
export function exitOnFailure(error) {
  process.stderr.write(`\n${error instanceof StepFailed ? error.message : (error.stack ?? error)}\n`);
  process.exit(error instanceof Misused ? 2 : 1);
}
