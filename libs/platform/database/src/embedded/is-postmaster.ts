import { readFile, readlink } from 'node:fs/promises';
import { isAlive, ps } from './process-identity';

/** Whether the process is the main process of a PostgreSQL server on this data directory. */
export async function isPostmasterOf(pid: number, dataDirectory: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (commandLine === undefined) {
    const command = (await ps(pid, 'command')) ?? '';
    return /(^|\/)postgres /.test(command) && command.includes(dataDirectory);
  }
  // Other processes of the server have other titles, such as "postgres: checkpointer".
  if (!/(^|\/)postgres$/.test(commandLine.split('\0')[0] ?? '')) return false;
  const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  return workingDirectory === dataDirectory;
}
