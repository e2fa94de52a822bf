import { StepFailed, capture } from './run.mjs';

const DONE = '\u2713';

/**
 * Runs a program as one step of a command: a line with its name and its seconds, which a terminal shows while it runs.
 * The program's output is printed only if it fails.
 */
export async function runStep(name, program, args, env = {}) {
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1);
  const isTerminal = process.stdout.isTTY === true;
  const timer = isTerminal
    ? setInterval(() => process.stdout.write(`\r  ${name} … ${seconds()} s`), 100)
    : undefined;
  const { code, output } = await capture(program, args, env);
  clearInterval(timer);
  if (isTerminal) process.stdout.write('\r\u001b[K');
  if (code !== 0) throw new StepFailed(`${output}\n${name} failed (exit code ${code}).`);
  process.stdout.write(`${DONE} ${name} (${seconds()} s)\n`);
}
