import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A process that runs the server and writes rows until it is killed. */
export interface Writer {
  readonly serverPid: number;
  /** Resolves when this many rows are acknowledged. */
  hasWritten(rows: number): Promise<void>;
  /** Kills the process, not its server, with no warning. Resolves with the ids that were acknowledged. */
  kill(): Promise<bigint[]>;
}

/** Builds the program of `startWriter`; returns its file. */
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
  // In a process of its own: esbuild does not run inside jest's sandbox.
  execFileSync(process.execPath, ['-e', `require('esbuild').buildSync(${JSON.stringify(options)})`]);
  return program;
}

export async function startWriter(program: string, stateDirectory: string): Promise<Writer> {
  const child = spawn(process.execPath, [program, stateDirectory], { stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = once(child, 'close');
  const acknowledged: bigint[] = [];
  const waiting = new Set<() => void>();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const serverPid = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the writer ended: ${errors}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [kind, number = ''] = line.split(' ');
      if (kind === 'server') resolve(Number(number));
      else acknowledged.push(BigInt(number));
      for (const check of waiting) check();
    });
  });
  return {
    serverPid,
    hasWritten: (rows) =>
      new Promise((resolve) => {
        const check = () => {
          if (acknowledged.length < rows) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    async kill() {
      child.kill('SIGKILL');
      await gone;
      return acknowledged;
    },
  };
}
