import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { freezeDatabaseOf } from '@gateway/dev-infra';
import { isClusterDeployment } from '@gateway/test-support';
import { Client } from 'pg';
import { writeModelsOfAllDialects } from '../src/testing/dialect-models';
import { joinTestEnv, type SharedTestEnv } from '../src/testing/test-env';
import { openDeployment, otherFormats, type FaultInjection, type Deployment } from './framework';

/** Starts, or joins, a test deployment that supports fault injection. */
export async function startOwnDeployment(
  onResponse?: Deployment['onResponse'],
): Promise<{ deployment: Deployment; stop(): Promise<void> }> {
  const { modelsFile, env } = writeModelsOfAllDialects();
  const testEnv = await joinTestEnv({
    modelsFile,
    env: { ...env, GATEWAY_ENDPOINTS: ['chat', ...otherFormats].join() },
  });
  const deployment = await openDeployment(testEnv.gateway, faultInjectionOf(testEnv));
  return { deployment: { ...deployment, ...(onResponse ? { onResponse } : {}) }, stop: () => testEnv.stop() };
}

/** Undefined on systems without /proc, where the database's processes cannot be found. */
function faultInjectionOf(testEnv: SharedTestEnv): FaultInjection | undefined {
  if (!existsSync('/proc/self/stat')) return undefined;
  return {
    async withoutDatabase(during) {
      const unfreeze = freezeDatabaseOf(testEnv.gateway.pid);
      try {
        return await during();
      } finally {
        unfreeze();
      }
    },
    async withoutGenerations(during) {
      await runSql(testEnv, 'alter table usage.generations rename to generations_hidden');
      try {
        return await during();
      } finally {
        await runSql(testEnv, 'alter table usage.generations_hidden rename to generations');
      }
    },
  };
}

/** Runs SQL as superuser in the database of the usage domain. */
async function runSql(testEnv: SharedTestEnv, sql: string): Promise<void> {
  const read = (name: string) =>
    readFileSync(path.join(testEnv.gateway.stateDirectory, 'postgres', name), 'utf8').trim();
  const client = new Client({
    host: '127.0.0.1',
    port: Number(read('postgres-port')),
    user: 'gateway',
    password: read('postgres-password'),
    database: isClusterDeployment() ? 'usage' : 'gateway',
  });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
