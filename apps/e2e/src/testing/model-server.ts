import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pythonScripts } from './python';

/** A real model server in its own process: llama.cpp with a tiny model of random weights. */
export interface ModelServer {
  /** Without /v1. */
  readonly url: string;
  /** The number of slots that are generating. */
  busySlots(): Promise<number>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

export interface ModelServerOptions {
  /** The model file is written here. */
  readonly folder: string;
  /** The port of a server to replace. Default: a free port. */
  readonly port?: number;
  /** Tokens of one request, input and output together. */
  readonly context: number;
}

/** @param python with the packages xllamacpp and gguf. */
export async function startModelServer(python: string, options: ModelServerOptions): Promise<ModelServer> {
  const { folder, port = 0, context } = options;
  const script = path.join(pythonScripts, 'llama_server.py');
  const child = spawn(python, [script, folder, String(port), String(context)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONDONTWRITEBYTECODE: '1' },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-4_000)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      if (line.startsWith('http://')) resolve(line);
    });
    void exited.then(() => reject(new Error(`the model server exited:\n${stderr}`)));
  });
  return {
    url,
    async busySlots() {
      const slots = (await (await fetch(`${url}/slots`)).json()) as { is_processing: boolean }[];
      return slots.filter(({ is_processing: busy }) => busy).length;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
