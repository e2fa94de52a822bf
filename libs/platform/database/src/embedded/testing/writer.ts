import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A process that runs the server and inserts rows until it is killed. */
export interface Writer {
  readonly serverPid: number;
  /** Resolves when this many rows are acknowledged. */
  hasWritten(rows: number): Promise<void>;
  /** Kills the process, but not its server, with SIGKILL. Resolves with the acknowledged ids. */
  kill(): Promise<bigint[]>;
}

/** Bundles the program for `startWriter` and returns its path. */
export function buildWriter(directory: string): string {
  const program = join(directory, 'writer.cjs');
  const options = {
    entryPoints: [join(__dirname, 'writer-process.ts')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['pg-native'],
    logLevel: 'error',
    outfile: program,
  };
  // In a separate process, since esbuild does not run in jest's sandbox.
  execFileSync(process.execPath, ['-e', `require('esbuild').buildSync(${JSON.stringify(options)})`]);
  return program;
}

export async function startWriter(program: string, stateDirectory: string): Promise<Writer> {
  const child = spawn(process.execPath, [program, stateDirectory], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const acknowledged: bigint[] = [];
  const checks = new Set<() => void>();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const serverPid = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the writer ended: ${errors}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [kind, number = ''] = line.split(' ');
      if (kind === 'server') resolve(Number(number));
      else acknowledged.push(BigInt(number));
      for (const check of checks) check();
    });
  });
  return {
    serverPid,
    hasWritten: (rows) =>
      new Promise((resolve) => {
        const check = () => {
          if (acknowledged.length < rows) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
    async kill() {
      child.kill('SIGKILL');
      await closed;
      return acknowledged;
    },
  };
}
