import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './find-program';

const PROGRAM = 'redis-cli';
const TIMEOUT_MS = 30_000;
const run = promisify(execFile);

/** Runs `redis-cli`. @returns what it printed @throws Error for an error reply too */
export async function redisCli(args: readonly string[]): Promise<string> {
  const program = findProgram(PROGRAM);
  if (program === undefined) throw new Error(`${PROGRAM} is not installed. Debian's redis-tools has it.`);
  const { stdout } = await run(program, ['-e', ...args], { timeout: TIMEOUT_MS });
  return stdout.trim();
}

/** Sends a command to the server on this port. */
export function commandRedis(port: number, ...command: readonly string[]): Promise<string> {
  return redisCli(['-h', '127.0.0.1', '-p', String(port), ...command]);
}

const POLL_MS = 50;
const PATIENCE_MS = 30_000;

/** Polls until `isTrue`; a failed poll counts as false. */
export async function untilRedis(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`Redis: ${what} did not happen in ${PATIENCE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
