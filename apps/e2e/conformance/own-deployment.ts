import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { startWorld, type World } from '../src/support/world';
import { openDeployment, type Breakage, type Deployment } from './framework';

/** A deployment that the suite starts itself, and so may break. */
export async function startOwnDeployment(
  onAnswer?: Deployment['onAnswer'],
): Promise<{ deployment: Deployment; stop(): Promise<void> }> {
  const world = await startWorld();
  const deployment = await openDeployment(world.gateway, breakageOf(world));
  return { deployment: { ...deployment, ...(onAnswer ? { onAnswer } : {}) }, stop: () => world.stop() };
}

/** Breaks the embedded database, where the system tells which its processes are. */
function breakageOf(world: World): Breakage | undefined {
  if (!existsSync('/proc/self/stat')) return undefined;
  return {
    async withoutDatabase(during) {
      const processes = descendantsOf(world.gateway.pid).filter((pid) => /postgres/.test(commandOf(pid)));
      if (processes.length === 0) throw new Error('the gateway has no database process');
      for (const pid of processes) signal(pid, 'SIGSTOP');
      try {
        return await during();
      } finally {
        for (const pid of processes) signal(pid, 'SIGCONT');
      }
    },
    async withoutGenerations(during) {
      await runSql(world, 'alter table usage.generations rename to generations_away');
      try {
        return await during();
      } finally {
        await runSql(world, 'alter table usage.generations_away rename to generations');
      }
    },
  };
}

async function runSql(world: World, sql: string): Promise<void> {
  const read = (name: string) =>
    readFileSync(path.join(world.gateway.stateDirectory, 'postgres', name), 'utf8').trim();
  const client = new Client({
    host: '127.0.0.1',
    port: Number(read('postgres-port')),
    user: 'gateway',
    password: read('postgres-password'),
    database: 'gateway',
  });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function descendantsOf(ancestor: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = parentOf(Number(entry));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const below = (pid: number): number[] =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(ancestor);
}

function parentOf(pid: number): number | undefined {
  try {
    // The name in parentheses may hold anything; what follows the last one is fixed.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // A backend that has ended meanwhile needs none.
  }
}
