import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Peer } from './peers';

const INSTALL_TIMEOUT_MS = 600_000;
const REASON_CHARACTERS = 160;
/** Written last, with the install commands: a folder without it is incomplete. */
const MARK = 'installed';

export type Installed = { readonly folder: string } | { readonly failureReason: string };

/** Outside the repository, so that no peer becomes a dependency of it. */
export function defaultPeerCache(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache');
  return path.join(cache, 'inference-gateway', 'bench-peers');
}

/** Installs a peer once per version; returns the reason if that fails. */
export async function installPeer(peer: Peer, cacheFolder: string): Promise<Installed> {
  const folder = path.join(cacheFolder, `${peer.name}-${peer.version}`);
  const commands = peer.install(folder, peer.version);
  const mark = path.join(folder, MARK);
  const recipe = JSON.stringify(commands);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === recipe) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [command = '', ...args] of commands) {
    try {
      await promisify(execFile)(command, args, { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
    } catch (error) {
      return { failureReason: reasonOf(error) };
    }
  }
  writeFileSync(mark, recipe);
  return { folder };
}

/** The last line of a program's error output, or the error, on one line. */
export function reasonOf(error: unknown): string {
  const { stderr = '', message = String(error) } = error as { stderr?: string; message?: string };
  const lines = (stderr.trim() === '' ? message : stderr).trim().split('\n');
  const [first = '', last = ''] = [lines[0], lines.at(-1)];
  const reason = stderr.trim() === '' && first !== last ? `${first}: ${last}` : last;
  return reason.slice(0, REASON_CHARACTERS);
}
