import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to its input. */
  readonly input?: string;
}

/**
 * Runs a program to its end.
 *
 * @returns what it wrote to its output.
 * @throws Error with all that it wrote, when it failed or could not be started.
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
  // A program that ends without reading is judged by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return output;
  throw new Error(`${program} ${args.slice(0, 6).join(' ')} … ended with ${code}:\n${output}${errors}`);
}
