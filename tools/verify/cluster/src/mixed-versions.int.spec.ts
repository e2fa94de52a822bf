import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describeWith } from '@gateway/dev-infra';
import { createLogger } from '@gateway/runtime';
import { type AdminClient, createTenant, eventually, signIn, spendingOf } from '@gateway/test-support';
import { Client } from 'pg';
import { startCluster, type Cluster } from './cluster';
import type { Replica } from './replica';
import { DATABASES, SERVICE_NAMES, SERVICES, type DatabaseName, type ServiceName } from './services';
import { clusterDatastores } from './testing/cluster-datastores';

const run = promisify(execFile);
const root = path.resolve(__dirname, '../../../..');
const OLD = path.join(root, 'dist');
const NEW = path.join(root, 'dist/next-version');
const MODEL = 'demo/small';
const NANO = 1e9;
/** The service that migrates each database. */
const OWNERS: Readonly<Record<DatabaseName, ServiceName>> = {
  auth: 'auth',
  billing_ledger: 'billing-ledger',
  usage: 'usage-aggregator',
  inference_router: 'inference-router',
};

jest.setTimeout(240_000);

/**
 * The next version is generated from this one: every message gets a field that is
 * always sent, every enumeration a value, and every table a column.
 */
describeWith(clusterDatastores, 'replicas of two versions side by side', () => {
  let stateDirectory: string;
  let cluster: Cluster;
  let dashboard: AdminClient;
  const lines: string[] = [];
  /** Cost of each generation according to its response, by id. */
  const costs = new Map<string, bigint>();
  let sent = 0;

  beforeAll(async () => {
    execFileSync(process.execPath, ['tools/commands/next-version.mjs'], { cwd: root, stdio: 'pipe' });
    stateDirectory = mkdtempSync(path.join(tmpdir(), 'gateway-mixed-'));
    // PostgreSQL may run as another user, which must enter this folder.
    chmodSync(stateDirectory, 0o755);
    cluster = await startCluster({
      stateDirectory,
      programs: OLD,
      replicas: Object.fromEntries(SERVICE_NAMES.map((name) => [name, SERVICES[name].replicas])) as Record<
        ServiceName,
        number
      >,
      port: 0,
      dashboardPort: 0,
      modelsFile: path.join(root, 'models.yaml'),
      environment: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', LOG_LEVEL: 'info' },
      onLine: (name, line) => lines.push(`${name} ${line}`),
      log: createLogger({ name: 'cluster', level: 'error', pretty: false }),
    });
    const { dashboardUrl, adminEmail, adminPassword } = cluster.dev;
    dashboard = await signIn(dashboardUrl, adminEmail, adminPassword);
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(stateDirectory, { recursive: true, force: true });
  });

  const edges = () => cluster.replicas.filter(({ service }) => service === 'edge-proxy');
  const headers = () => ({
    authorization: `Bearer ${cluster.dev.apiKey}`,
    'content-type': 'application/json',
  });

  /** @returns undefined while the idempotency key is claimed: a response does not wait for a locked ledger to release the claim */
  async function complete(edge: Replica, fields: object, key?: string): Promise<'completed' | undefined> {
    sent += 1;
    const text = key ?? `number ${sent}`;
    const response = await fetch(`http://127.0.0.1:${edge.httpPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers(), ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify({
        model: MODEL,
        max_tokens: 20,
        messages: [{ role: 'user', content: `Say ${text} [[tokens:5]]` }],
        ...fields,
      }),
    });
    const body = await response.text();
    if (key !== undefined && body.includes('idempotency_key_in_flight')) return undefined;
    expect([response.status, body]).toEqual([200, expect.stringContaining('"cost":')]);
    const cost = Number(/"cost":([\d.e-]+)/.exec(body)?.[1]);
    costs.set(response.headers.get('x-generation-id') ?? '', BigInt(Math.round(cost * NANO)));
    return 'completed';
  }

  /** Sends requests of every kind through each edge. */
  async function serveAll(): Promise<void> {
    const rounds = edges().flatMap((edge) => Array.from({ length: 3 }, () => edge));
    for (const edge of rounds) {
      const key = `mixed-${sent}`;
      const other = edges().find((each) => each !== edge) ?? edge;
      await Promise.all([
        complete(edge, {}),
        complete(edge, { stream: true, stream_options: { include_usage: true } }),
        // One edge replays the response that another edge stored.
        complete(edge, {}, key).then(async (first) => {
          expect(first).toBe('completed');
          await eventually('the idempotency claim is released', () => complete(other, {}, key));
        }),
      ]);
    }
  }

  /** Every response is charged and recorded, to the nano-dollar. */
  async function expectExactCharges(): Promise<void> {
    const base = `http://127.0.0.1:${edges()[0]?.httpPort}/v1`;
    const read = async <Body>(url: string) => {
      const response = await fetch(`${base}${url}`, { headers: headers() });
      return response.status === 200 ? ((await response.json()) as Body) : undefined;
    };
    const charged = [...costs.values()].reduce((sum, cost) => sum + cost, 0n);
    await eventually(
      'every generation is charged and recorded',
      async () => {
        const credits = await read<{ data: { total_usage: number; reserved: number } }>('/credits');
        const usage = await read<{ totals: { total_cost: number; requests: number } }>('/usage');
        if (credits === undefined || usage === undefined || credits.data.reserved !== 0) return undefined;
        if (usage.totals.requests !== costs.size) return undefined;
        expect(BigInt(Math.round(credits.data.total_usage * NANO))).toBe(charged);
        expect(BigInt(Math.round(usage.totals.total_cost * NANO))).toBe(charged);
        return true;
      },
      { timeoutMs: 60_000 },
    );
    const [id] = [...costs.keys()].slice(-1);
    await eventually('the last generation is recorded', async () => {
      const found = await read<{ data: { id: string } }>(`/generation?id=${id}`);
      return found?.data.id === id ? true : undefined;
    });
  }

  /** Uses the dashboard: writes to auth and the ledger, and reads from every service. */
  async function administrate(): Promise<void> {
    const { organizationId } = await createTenant(dashboard, { name: `Tenant ${sent}`, credit: '1' });
    const of = `/api/organizations/${organizationId}`;
    const days = 'start=2026-01-01T00:00:00Z&end=2026-02-01T00:00:00Z&granularity=day';
    for (const url of [`${of}/keys`, `${of}/usage?${days}`, `${of}/generations`, `${of}/audit`]) {
      await dashboard.call('GET', url);
    }
    for (const topic of ['catalogue', 'settlement', 'providers'])
      await dashboard.call('GET', `/api/operator/${topic}`);
    await dashboard.call('GET', '/api/dead-letters');
    expect(await spendingOf(dashboard, organizationId)).toEqual({ usedNanoUsd: 0n, heldNanoUsd: 0n });
  }

  async function migrate(service: ServiceName): Promise<string> {
    const replica = cluster.replicas.find((each) => each.service === service);
    const { stdout } = await run(process.execPath, [path.join(NEW, service, 'main.js'), 'migrate'], {
      env: { ...replica?.environment },
    });
    return stdout;
  }

  async function migrationsOf(database: DatabaseName): Promise<readonly string[]> {
    const client = new Client({ connectionString: cluster.datastores.databases[database] });
    await client.connect();
    try {
      const { rows: schemas } = await client.query<{ schema: string }>(
        `select relnamespace::regnamespace::text as schema from pg_class where relname = '_prisma_migrations'`,
      );
      const found: string[] = [];
      for (const { schema } of schemas) {
        const { rows } = await client.query<{ migration_name: string }>(
          `select migration_name from ${schema}._prisma_migrations`,
        );
        found.push(...rows.map(({ migration_name: name }) => `${schema} ${name}`));
      }
      return found.sort();
    } finally {
      await client.end();
    }
  }

  /** A function's comment contains the checksum of its text. */
  async function functionsOf(database: DatabaseName): Promise<readonly string[]> {
    const client = new Client({ connectionString: cluster.datastores.databases[database] });
    await client.connect();
    try {
      const { rows } = await client.query<{ text: string }>(
        `select proname || ' ' || obj_description(oid, 'pg_proc') as text from pg_proc
         where pronamespace::regnamespace::text = any ($1) order by 1`,
        [DATABASES],
      );
      return rows.map(({ text }) => text);
    } finally {
      await client.end();
    }
  }

  /** Restarts each replica from the chosen builds. */
  async function rollTo(choose: (replica: Replica, index: number) => string): Promise<void> {
    const restarts = SERVICE_NAMES.flatMap((service) =>
      cluster.replicas
        .filter((each) => each.service === service)
        .map((replica, index) => replica.restart(choose(replica, index))),
    );
    await Promise.all(restarts);
    await cluster.ready();
  }

  /** SQL functions of the next version. */
  let nextFunctions: readonly string[] = [];

  const loggedErrors = () => lines.filter((line) => /"level":(50|60)/.test(line));

  it('the current version serves requests and charges them', async () => {
    await serveAll();
    await administrate();
    await expectExactCharges();
  });

  it('two concurrent migration jobs succeed while the current version serves requests', async () => {
    const before = await Promise.all(DATABASES.map(migrationsOf));
    const functionsBefore = await functionsOf('billing_ledger');
    let migrating = true;
    const serving = (async () => {
      while (migrating) await serveAll();
    })();
    for (const database of DATABASES) {
      await Promise.all([migrate(OWNERS[database]), migrate(OWNERS[database])]);
    }
    migrating = false;
    await serving;
    await administrate();
    await expectExactCharges();
    const after = await Promise.all(DATABASES.map(migrationsOf));
    DATABASES.forEach((database, index) => {
      const added = after[index]?.filter((name) => !before[index]?.includes(name)) ?? [];
      expect([database, added.length]).not.toEqual([database, 0]);
      expect(new Set(added).size).toBe(added.length);
      expect(added.every((name) => name.includes('_next_version') || name.includes(' 2999'))).toBe(true);
    });
    nextFunctions = await functionsOf('billing_ledger');
    expect(functionsBefore.length).toBeGreaterThan(10);
    expect(nextFunctions).toHaveLength(functionsBefore.length);
    expect(nextFunctions.filter((text) => functionsBefore.includes(text))).toEqual([]);
  });

  it.each([
    [
      'one of two replicas, and no single replicas',
      (index: number, count: number) => count > 1 && index % 2 === 0,
    ],
    [
      'the other of two replicas, and all single replicas',
      (index: number, count: number) => count === 1 || index % 2 === 1,
    ],
    ['none, as after a rollback', () => false],
  ])('requests are served and charged with these replicas on the next version: %s', async (_, isNew) => {
    await rollTo(({ service }, index) => (isNew(index, SERVICES[service].replicas) ? NEW : OLD));
    await serveAll();
    await administrate();
    await expectExactCharges();
    expect(loggedErrors()).toEqual([]);
    expect(await functionsOf('billing_ledger')).toEqual(nextFunctions);
  });
});
