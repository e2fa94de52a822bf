import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tryToRun } from './run';

/** Of everything that the enclosure runs, in each hierarchy. */
export const CGROUP = 'gateway-kubernetes';
const CGROUPS = '/sys/fs/cgroup';

const PATIENCE_MS = 10_000;
const POLL_MS = 50;

/**
 * Process 1 of the enclosure. Where the node's programs are used to write outside of their own folders there is memory
 * instead, which goes with the enclosure. Children that lost their parent are reaped by the shell.
 */
const KEEPER = `
  set -e
  for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs $folder; done
  ip link set lo up
  touch "$1"
  trap 'exit 0' TERM
  while true; do sleep infinity & wait $!; done
`;

/**
 * Namespaces of network, processes and mounts, in which the node and its clients run. No packet leaves them, no rule or
 * mount of the machine is touched, and with their first process ends everything that they hold.
 */
export class Enclosure {
  private constructor(
    private readonly state: string,
    private readonly pid: number,
  ) {}

  static async open(state: string): Promise<Enclosure> {
    for (const folder of await cgroupFolders()) await mkdir(folder, { recursive: true });
    const opened = path.join(state, 'enclosure.open');
    const kinds = ['--net', '--pid', '--mount', '--ipc', '--uts'];
    const holder = spawn(
      'unshare',
      [...kinds, '--fork', '--kill-child', '--mount-proc', 'bash', '-c', KEEPER, 'keeper', opened],
      { detached: true, stdio: 'ignore' },
    );
    holder.unref();
    const deadline = Date.now() + PATIENCE_MS;
    while (!existsSync(opened)) {
      if (Date.now() > deadline) throw new Error('no namespaces of its own for the node: is this root?');
      await delay(POLL_MS);
    }
    const children = await readFile(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8');
    const enclosure = new Enclosure(state, Number(children.trim()));
    await writeFile(pidFile(state), String(enclosure.pid));
    return enclosure;
  }

  /** The one that an earlier run left open; undefined when there is none. */
  static async find(state: string): Promise<Enclosure | undefined> {
    const pid = Number(await readFile(pidFile(state), 'utf8').catch(() => ''));
    // The number may be another's by now.
    const command = pid > 0 ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : '';
    return command.includes(state) ? new Enclosure(state, pid) : undefined;
  }

  /** What runs a program within. */
  command(...program: readonly string[]): string[] {
    return [
      'nsenter',
      '--target',
      String(this.pid),
      '--net',
      '--pid',
      '--mount',
      '--ipc',
      '--uts',
      ...program,
    ];
  }

  /** Ends all that runs within, and with it the namespaces. */
  async close(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    while (existsSync(`/proc/${this.pid}`)) await delay(POLL_MS);
    await rm(pidFile(this.state), { force: true });
  }
}

const pidFile = (state: string): string => path.join(state, 'enclosure');

/** Ends what runs and removes the state; also what only came up in part. */
export async function takeDown(state: string): Promise<void> {
  await (await Enclosure.find(state))?.close();
  for (const folder of await cgroupFolders()) await removeCgroup(folder);
  await rm(state, { recursive: true, force: true, maxRetries: 5 });
}

/** One in each hierarchy of the first version of cgroups, or the one of the second. */
async function cgroupFolders(): Promise<string[]> {
  if (existsSync(path.join(CGROUPS, 'cgroup.controllers'))) return [path.join(CGROUPS, CGROUP)];
  const hierarchies = await readdir(CGROUPS);
  return hierarchies.map((name) => path.join(CGROUPS, name, CGROUP));
}

async function removeCgroup(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) await removeCgroup(path.join(folder, entry.name));
  }
  if (existsSync(folder)) await rmdir(folder).catch(() => tryToRun('rmdir', [folder]));
}
