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

/** Ids of generations and their total cost. */
interface Generated {
  readonly ids: readonly string[];
  readonly costNanoUsd: bigint;
}

/** A cluster with one replica of each service, whose services and datastores a test kills and restores. */
export interface RecoveryCluster extends Cluster {
  readonly stateDirectory: string;
  replica(service: ServiceName): Replica;
  /** Sends a request to the public API with the demo key. */
  request(url: string, body?: object): Promise<Response>;
  /** Completes generations sequentially; retries while a dependency of the edge is unavailable. */
  complete(count: number): Promise<Generated>;
  /** As `complete`, and waits until usage has recorded them. */
  generate(count: number): Promise<Generated>;
  /** Status of each generation's lookup: 404 if usage has not recorded it. */
  statusesOf(ids: readonly string[]): Promise<readonly number[]>;
  /** Waits until usage has recorded all of them. */
  waitUntilRecorded(ids: readonly string[]): Promise<unknown>;
  /** Runs statements as superuser. @returns the rows of the last one */
  inPostgres<Row>(database: string, ...statements: string[]): Promise<Row[]>;
  /** Audits the ledger. */
  audit(): Promise<{ faults: readonly string[]; chargedNanoUsd: bigint }>;
}

export async function openRecoveryCluster(): Promise<RecoveryCluster> {
  const stateDirectory = mkdtempSync(path.join(tmpdir(), 'gateway-losses-'));
  // PostgreSQL may run as another user, which must enter this folder.
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
  const urlOf = (database: string): string => {
    const url = new URL(cluster.datastores.postgres.adminUrl);
    url.pathname = `/${database}`;
    return url.toString();
  };

  const request = (url: string, body?: object): Promise<Response> =>
    fetch(`${cluster.dev.baseUrl}${url}`, {
      headers: { authorization: `Bearer ${cluster.dev.apiKey}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });

  async function complete(count: number): Promise<Generated> {
    const ids: string[] = [];
    let costNanoUsd = 0n;
    for (let number = 0; number < count; number += 1) {
      const messages = [{ role: 'user', content: `Number ${number} [[tokens:40]] [[rate:0]]` }];
      const response = await eventually('a response', async () => {
        const received = await request('/chat/completions', { model: 'demo/small', messages });
        return received.status === UNAVAILABLE ? undefined : received;
      });
      expect(response.status).toBe(200);
      const { id, usage } = (await response.json()) as { id: string; usage: { cost: number } };
      ids.push(id);
      costNanoUsd += nanoUsdOf(usage.cost);
    }
    return { ids, costNanoUsd };
  }

  const statusesOf = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await request(`/generation?id=${id}`)).status));
  const waitUntilRecorded = (ids: readonly string[]) =>
    eventually(
      'usage has recorded every generation',
      async () => (await statusesOf(ids)).every((status) => status === 200) || undefined,
      { timeoutMs: 90_000 },
    );

  return {
    ...cluster,
    stateDirectory,
    replica(service) {
      const found = cluster.replicas.find((each) => each.service === service);
      if (found === undefined) throw new Error(`no replica of ${service}`);
      return found;
    },
    request,
    complete,
    async generate(count) {
      const completed = await complete(count);
      await waitUntilRecorded(completed.ids);
      return completed;
    },
    statusesOf,
    waitUntilRecorded,
    async inPostgres<Row>(database: string, ...statements: string[]) {
      const client = new Client({ connectionString: urlOf(database) });
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
    async audit() {
      const pool = createPool({
        url: urlOf('billing_ledger'),
        schema: 'billing_ledger',
        applicationName: 'audit',
        maxConnections: 1,
        queryTimeoutMs: 0,
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
