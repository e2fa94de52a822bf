import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { freezeDatabaseOf, testsCluster } from '@gateway/test-support';
import { Client } from 'pg';
import { joinTestEnv, type SharedTestEnv } from '../src/testing/test-env';
import { openDeployment, type Breakage, type Deployment } from './framework';

/** A deployment that the tests started, and so may break while no other suite runs. */
export async function startOwnDeployment(
  onAnswer?: Deployment['onAnswer'],
): Promise<{ deployment: Deployment; stop(): Promise<void> }> {
  const testEnv = await joinTestEnv();
  const deployment = await openDeployment(testEnv.gateway, breakageOf(testEnv));
  return { deployment: { ...deployment, ...(onAnswer ? { onAnswer } : {}) }, stop: () => testEnv.stop() };
}

/** Breaks its own database, where the system tells which its processes are. */
function breakageOf(testEnv: SharedTestEnv): Breakage | undefined {
  if (!existsSync('/proc/self/stat')) return undefined;
  return {
    async withoutDatabase(during) {
      const thaw = freezeDatabaseOf(testEnv.gateway.pid);
      try {
        return await during();
      } finally {
        thaw();
      }
    },
    async withoutGenerations(during) {
      await runSql(testEnv, 'alter table usage.generations rename to generations_away');
      try {
        return await during();
      } finally {
        await runSql(testEnv, 'alter table usage.generations_away rename to generations');
      }
    },
  };
}

/** As the owner of the server, in the database of the usage domain. */
async function runSql(testEnv: SharedTestEnv, sql: string): Promise<void> {
  const read = (name: string) =>
    readFileSync(path.join(testEnv.gateway.stateDirectory, 'postgres', name), 'utf8').trim();
  const client = new Client({
    host: '127.0.0.1',
    port: Number(read('postgres-port')),
    user: 'gateway',
    password: read('postgres-password'),
    database: testsCluster() ? 'usage' : 'gateway',
  });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
