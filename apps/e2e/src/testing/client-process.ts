import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pythonScripts } from './python';

/**
 * A program of a user of some SDK: one script of apps/e2e/clients or apps/e2e/python, which runs the commands `complete`,
 * `stream` and `callTool`.
 */
export interface ClientProcess {
  run(command: string, options: ClientOptions): Promise<ClientAnswer>;
  stop(): Promise<void>;
}

export interface ClientOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came of a command: a value, or what a program reads from the client's error. */
export interface ClientAnswer {
  readonly value?: unknown;
  readonly failure?: Readonly<Record<string, unknown>>;
  /** The error as the client prints it. */
  readonly text?: string;
  /** How long the client would have waited before each of its retries, in milliseconds; it did not. */
  readonly waitsMs: readonly number[];
}

const nodeScripts = path.resolve(__dirname, '../../clients');

/** `options` are given to every command beside its own. */
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
    // Nothing of the machine's own set-up, such as a key or a proxy, may reach the client.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONDONTWRITEBYTECODE: '1' },
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  return {
    async run(command, options) {
      child.stdin.write(`${JSON.stringify({ command, options: { ...ownOptions, ...options } })}\n`);
      const { value: line, done } = await answers.next();
      if (done) throw new Error(`${script} ended:\n${complaints}`);
      return JSON.parse(line) as ClientAnswer;
    },
    async stop() {
      // It has nothing to finish.
      child.kill('SIGKILL');
      await ended;
    },
  };
}
