import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pythonScripts } from './python';

/**
 * A user's program with one SDK: a script of apps/e2e/clients or apps/e2e/python, which runs the commands `complete`,
 * `stream` and `callTool`.
 */
export interface ClientProcess {
  run(command: string, options: ClientOptions): Promise<ClientResult>;
  stop(): Promise<void>;
}

export interface ClientOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The result of a command: a value, or what a program reads from the client's error. */
export interface ClientResult {
  readonly value?: unknown;
  readonly failure?: Readonly<Record<string, unknown>>;
  /** The error as the client prints it. */
  readonly text?: string;
  /** The delay before each retry. The scripts skip the delays. */
  readonly retryDelaysMs: readonly number[];
}

const nodeScripts = path.resolve(__dirname, '../../clients');

/** @param options are passed to every command in addition to its own. */
export function startNodeClient(
  script: string,
  options: Readonly<Record<string, string>> = {},
): ClientProcess {
  return startClient(process.execPath, path.join(nodeScripts, script), options);
}

export function startPythonClient(python: string, script: string): ClientProcess {
  return startClient(python, path.join(pythonScripts, script), {});
}

function startClient(
  program: string,
  script: string,
  ownOptions: Readonly<Record<string, string>>,
): ClientProcess {
  const child = spawn(program, [script], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Settings of the machine, such as a key or a proxy, must not reach the client.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONDONTWRITEBYTECODE: '1' },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const results = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  return {
    async run(command, options) {
      child.stdin.write(`${JSON.stringify({ command, options: { ...ownOptions, ...options } })}\n`);
      const { value: line, done } = await results.next();
      if (done) throw new Error(`${script} exited:\n${stderr}`);
      return JSON.parse(line) as ClientResult;
    },
    async stop() {
      // It has no work in flight.
      child.kill('SIGKILL');
      await exited;
    },
  };
}
