import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to standard input. */
  readonly input?: string;
}

/**
 * Runs a program and waits for its exit.
 *
 * @returns its standard output
 * @throws Error with all its output if it failed or could not be started
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, input }: RunOptions = {},
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'pipe' });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  // For a program that exits without reading its input, only the exit code matters.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return output;
  throw new Error(`${program} ${args.slice(0, 6).join(' ')} … exited with code ${code}:\n${output}${errors}`);
}
