import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { nanoUsdOf } from '@gateway/load';
import { auditLedger } from '@gateway/ledger-audit';
import { SERVICE_NAMES, startCluster, type Cluster, type Replica, type ServiceName } from '@gateway/cluster';
import { createPool } from '@gateway/database';
import { createLogger } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { Client } from 'pg';

const root = path.resolve(__dirname, '../../../../..');
const UNAVAILABLE = 503;

/** So many generations, and what they cost together. */
interface Generated {
  readonly ids: readonly string[];
  readonly costNanoUsd: bigint;
}

/** A cluster of one replica of each service, whose engines and services a test takes away. */
export interface LossyCluster extends Cluster {
  readonly stateDirectory: string;
  replica(service: ServiceName): Replica;
  /** Asks the public API with the demo's key. */
  ask(url: string, body?: object): Promise<Response>;
  /** One after another, each as soon as the edge has found again what was away. */
  complete(count: number): Promise<Generated>;
  /** The same, once they are in the usage. */
  generate(count: number): Promise<Generated>;
  /** Of each as it is shown: 404 for what usage does not know. */
  statusesOf(ids: readonly string[]): Promise<readonly number[]>;
  /** Until all are in the usage. */
  areKnown(ids: readonly string[]): Promise<unknown>;
  /** @returns the rows of the last statement, by a superuser. */
  inPostgres<Row>(database: string, ...statements: string[]): Promise<Row[]>;
  /** What the auditor says of the ledger's books. */
  audited(): Promise<{ faults: readonly string[]; chargedNanoUsd: bigint }>;
}

export async function openLossyCluster(): Promise<LossyCluster> {
  const stateDirectory = mkdtempSync(path.join(tmpdir(), 'gateway-losses-'));
  // The database's own user has to enter it.
  chmodSync(stateDirectory, 0o755);
  const cluster = await startCluster({
    stateDirectory,
    programs: path.join(root, 'dist'),
    replicas: Object.fromEntries(SERVICE_NAMES.map((name) => [name, 1])) as Record<ServiceName, number>,
    port: 0,
    dashboardPort: 0,
    modelsFile: path.join(root, 'models.yaml'),
    environment: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    onLine: () => undefined,
    log: createLogger({ name: 'cluster', level: 'silent', pretty: false }),
  });
  const addressOf = (database: string): string => {
    const url = new URL(cluster.engines.postgres.adminUrl);
    url.pathname = `/${database}`;
    return url.toString();
  };

  const ask = (url: string, body?: object): Promise<Response> =>
    fetch(`${cluster.dev.baseUrl}${url}`, {
      headers: { authorization: `Bearer ${cluster.dev.apiKey}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });

  async function complete(count: number): Promise<Generated> {
    const ids: string[] = [];
    let costNanoUsd = 0n;
    for (let number = 0; number < count; number += 1) {
      const messages = [{ role: 'user', content: `Number ${number} [[tokens:40]] [[rate:0]]` }];
      const answer = await eventually('an answer', async () => {
        const given = await ask('/chat/completions', { model: 'demo/small', messages });
        return given.status === UNAVAILABLE ? undefined : given;
      });
      expect(answer.status).toBe(200);
      const { id, usage } = (await answer.json()) as { id: string; usage: { cost: number } };
      ids.push(id);
      costNanoUsd += nanoUsdOf(usage.cost);
    }
    return { ids, costNanoUsd };
  }

  const statusesOf = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await ask(`/generation?id=${id}`)).status));
  const areKnown = (ids: readonly string[]) =>
    eventually(
      'all are in the usage',
      async () => (await statusesOf(ids)).every((status) => status === 200) || undefined,
      { patienceMs: 90_000 },
    );

  return {
    ...cluster,
    stateDirectory,
    replica(service) {
      const found = cluster.replicas.find((each) => each.service === service);
      if (found === undefined) throw new Error(`there is no ${service}`);
      return found;
    },
    ask,
    complete,
    async generate(count) {
      const completed = await complete(count);
      await areKnown(completed.ids);
      return completed;
    },
    statusesOf,
    areKnown,
    async inPostgres<Row>(database: string, ...statements: string[]) {
      const client = new Client({ connectionString: addressOf(database) });
      client.on('error', () => undefined);
      await client.connect();
      try {
        let rows: Row[] = [];
        for (const statement of statements)
          ({ rows } = (await client.query(statement)) as unknown as { rows: Row[] });
        return rows;
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    async audited() {
      const pool = createPool({
        url: addressOf('billing_ledger'),
        schema: 'billing_ledger',
        applicationName: 'audit',
        maxConnections: 1,
      });
      try {
        const { faults, totals } = await auditLedger(pool);
        return { faults, chargedNanoUsd: totals.charged };
      } finally {
        await pool.end();
      }
    },
    async stop() {
      await cluster.stop();
      rmSync(stateDirectory, { recursive: true, force: true });
    },
  };
}
