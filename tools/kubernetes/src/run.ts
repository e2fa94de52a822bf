import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to its input. */
  readonly input?: string;
  /** Where its lines go meanwhile. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs a program to its end.
 *
 * @returns what it wrote to its output.
 * @throws Error with all that it wrote, when it failed.
 */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env, input, onLine }: RunOptions = {},
): Promise<string> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
  let output = '';
  let errors = '';
  const take = (text: string): void => {
    if (onLine) text.trimEnd().split('\n').forEach(onLine);
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    take(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
    take(text);
  });
  // A program that ends without reading is judged by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return output;
  throw new Error(`${program} ${args.slice(0, 4).join(' ')} … ended with ${code}:\n${output}${errors}`);
}

/** The same, for what may well fail, such as the removal of what may not be there. */
export async function tryToRun(program: string, args: readonly string[]): Promise<string> {
  return run(program, args).catch(() => '');
}
