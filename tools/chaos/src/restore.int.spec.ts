import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { auditLedger } from '@gateway/billing-ledger';
import { SERVICE_NAMES, startCluster, type Cluster, type ServiceName } from '@gateway/cluster';
import { createPool } from '@gateway/database';
import { describeWith, kafka, redis } from '@gateway/dev-infra';
import { TOPIC_GENERATION_FINISHED, TOPIC_GENERATION_SETTLED } from '@gateway/events';
import { createLogger } from '@gateway/runtime';
import { eventually } from '@gateway/testing';
import { Kafka, logLevel } from 'kafkajs';
import { Client } from 'pg';

const root = path.resolve(__dirname, '../../..');
const NANO = 1e9;
const engines = {
  name: 'Redis or Kafka',
  howToGet: `${redis.howToGet} ${kafka.howToGet}`,
  isAvailable: () => redis.isAvailable() && kafka.isAvailable(),
};

jest.setTimeout(300_000);

/** What docs/operations.md has one do, step by step. */
describeWith(engines, 'a cluster whose engine is lost', () => {
  let stateDirectory: string;
  let cluster: Cluster;

  beforeAll(async () => {
    stateDirectory = mkdtempSync(path.join(tmpdir(), 'gateway-restore-'));
    // The database's own user has to enter it.
    chmodSync(stateDirectory, 0o755);
    cluster = await startCluster({
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
  });

  afterAll(async () => {
    await cluster?.stop();
    rmSync(stateDirectory, { recursive: true, force: true });
  });

  const replica = (service: ServiceName) => {
    const found = cluster.replicas.find((each) => each.service === service);
    if (found === undefined) throw new Error(`there is no ${service}`);
    return found;
  };
  const headers = () => ({
    authorization: `Bearer ${cluster.dev.apiKey}`,
    'content-type': 'application/json',
  });
  const inPostgres = async <Row>(database: string, ...statements: string[]): Promise<Row[]> => {
    const url = new URL(cluster.engines.postgres.adminUrl);
    url.pathname = `/${database}`;
    const client = new Client({ connectionString: url.toString() });
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
  };

  /** The same, once they are in the usage. */
  async function generate(count: number): ReturnType<typeof complete> {
    const completed = await complete(count);
    await areKnown(completed.ids);
    return completed;
  }

  async function openHolds(): Promise<number> {
    const rows = await inPostgres('billing_ledger', 'select 1 from billing_ledger.open_holds');
    return rows.length;
  }

  /** @returns the ids of so many generations, and what they cost. */
  async function complete(count: number): Promise<{ ids: string[]; costNanoUsd: bigint }> {
    const ids: string[] = [];
    let costNanoUsd = 0n;
    for (let number = 0; number < count; number += 1) {
      const answer = await fetch(`${cluster.dev.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: headers(),
        body: JSON.stringify({
          model: 'demo/small',
          messages: [{ role: 'user', content: `Number ${number} [[tokens:40]] [[rate:0]]` }],
        }),
      });
      expect(answer.status).toBe(200);
      const { id, usage } = (await answer.json()) as { id: string; usage: { cost: number } };
      ids.push(id);
      costNanoUsd += BigInt(Math.round(usage.cost * NANO));
    }
    return { ids, costNanoUsd };
  }

  const statusOf = async (id: string) =>
    (await fetch(`${cluster.dev.baseUrl}/generation?id=${id}`, { headers: headers() })).status;
  const areKnown = (ids: readonly string[]) =>
    eventually(
      'all are in the usage',
      async () =>
        (await Promise.all(ids.map(statusOf))).every((status) => status === 200) ? true : undefined,
      { patienceMs: 90_000 },
    );

  async function audited(): Promise<{ faults: readonly string[]; chargedNanoUsd: bigint }> {
    const url = new URL(cluster.engines.postgres.adminUrl);
    url.pathname = '/billing_ledger';
    const pool = createPool({
      url: url.toString(),
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
  }

  /** A base backup by PostgreSQL's own functions, as pg_basebackup takes it. */
  async function takeBackup(): Promise<string> {
    const { dataDirectory, adminUrl } = cluster.engines.postgres;
    const backup = `${dataDirectory}.backup`;
    const client = new Client({ connectionString: adminUrl });
    await client.connect();
    // What an archive_command does for good is done here by keeping the log.
    await client.query(`alter system set wal_keep_size = '1GB'`);
    await client.query('select pg_reload_conf()');
    await client.query(`select pg_backup_start('test', true)`);
    execFileSync('cp', ['-a', dataDirectory, backup]);
    const { rows } = await client.query<{ labelfile: string }>('select * from pg_backup_stop()');
    writeFileSync(path.join(backup, 'backup_label'), rows[0]?.labelfile ?? '');
    await client.end();
    return backup;
  }

  /** Puts the backup in the place of what is lost, and has it follow the log to the moment. */
  function restore(backup: string, moment: string): void {
    const { dataDirectory, pid } = cluster.engines.postgres;
    const lost = `${dataDirectory}.lost`;
    rmSync(path.join(backup, 'postmaster.pid'), { force: true });
    rmSync(path.join(backup, 'pg_wal'), { recursive: true });
    const log = path.join(backup, 'pg_wal');
    mkdirSync(log, { mode: 0o700 });
    // Whoever runs the test may not be who runs the server.
    const { uid, gid } = statSync(dataDirectory);
    for (const made of [log, path.join(backup, 'backup_label')]) chownSync(made, uid, gid);
    appendFileSync(
      path.join(backup, 'postgresql.auto.conf'),
      [
        `restore_command = 'cp "${lost}/pg_wal/%f" "%p"'`,
        `recovery_target_name = '${moment}'`,
        `recovery_target_action = 'promote'\n`,
      ].join('\n'),
    );
    execFileSync('cp', ['-a', path.join(backup, 'PG_VERSION'), path.join(backup, 'recovery.signal')]);
    renameSync(dataDirectory, lost);
    renameSync(backup, dataDirectory);
    process.kill(pid, 'SIGKILL');
  }

  /** Has a group read again what came since. Its members have to be gone. */
  async function readAgainSince(group: string, topic: string, sinceMs: number): Promise<void> {
    const client = new Kafka({ brokers: [cluster.engines.broker], logLevel: logLevel.NOTHING });
    const admin = client.admin();
    await admin.connect();
    try {
      const partitions = await admin.fetchTopicOffsetsByTimestamp(topic, sinceMs);
      await eventually(
        `${group} has no members`,
        async () =>
          admin.setOffsets({ groupId: `${group}.${topic}`, topic, partitions }).then(
            () => true,
            () => undefined,
          ),
        { patienceMs: 60_000 },
      );
    } finally {
      await admin.disconnect();
    }
  }

  it('has the books of the moment that PostgreSQL was restored to, and charges what came after from Kafka, exactly once', async () => {
    await generate(3);
    const backup = await takeBackup();
    const before = await generate(3);
    const atMoment = await audited();
    expect(atMoment.faults).toEqual([]);
    const momentMs = Date.now();
    await inPostgres('postgres', `select pg_create_restore_point('moment')`);
    const after = await generate(4);
    const lost = await audited();
    expect(lost.chargedNanoUsd).toBe(atMoment.chargedNanoUsd + after.costNanoUsd);
    await inPostgres('postgres', 'select pg_switch_wal()');

    restore(backup, 'moment');
    await eventually(
      'PostgreSQL has reached the moment',
      async () => {
        const [row] = await inPostgres<{ recovering: boolean }>(
          'postgres',
          'select pg_is_in_recovery() as recovering',
        ).catch(() => []);
        return row?.recovering === false ? true : undefined;
      },
      { patienceMs: 60_000 },
    );
    await cluster.ready();
    expect(await audited()).toEqual(atMoment);
    await areKnown(before.ids);
    // Kafka's groups are past what the databases have forgotten, so by itself nothing of it comes back.
    expect(await Promise.all(after.ids.map(statusOf))).toEqual(after.ids.map(() => 404));

    for (const service of ['billing-ledger', 'usage-aggregator'] as const) await replica(service).stop();
    await readAgainSince('billing-ledger', TOPIC_GENERATION_FINISHED, momentMs - 60_000);
    await readAgainSince('usage-aggregator', TOPIC_GENERATION_SETTLED, momentMs - 60_000);
    for (const service of ['billing-ledger', 'usage-aggregator'] as const) await replica(service).start();
    await cluster.ready();
    await areKnown([...before.ids, ...after.ids]);
    // Usage reads of each at once: that it was charged is still in Kafka, from before.
    await eventually(
      'the ledger has read again',
      async () => ((await audited()).chargedNanoUsd >= lost.chargedNanoUsd ? true : undefined),
      { patienceMs: 90_000 },
    );
    expect(await audited()).toEqual(lost);
    // And it goes on.
    const { costNanoUsd } = await generate(2);
    expect(await audited()).toEqual({ faults: [], chargedNanoUsd: lost.chargedNanoUsd + costNanoUsd });
  });

  it('has the announcements of a Kafka that was lost, and usage is whole again', async () => {
    await generate(2);
    const aggregator = replica('usage-aggregator');
    await aggregator.stop();
    const unread = await complete(3);
    await eventually('they are settled', async () => ((await openHolds()) === 0 ? true : undefined));
    const books = await audited();

    await cluster.engines.kafka.kill();
    const log = path.join(stateDirectory, 'kafka', 'log');
    const kept = new Set(['meta.properties', 'bootstrap.checkpoint']);
    for (const name of readdirSync(log)) {
      if (!kept.has(name)) rmSync(path.join(log, name), { recursive: true });
    }
    await cluster.engines.kafka.start();
    const ledger = replica('billing-ledger');
    await ledger.stop();
    await inPostgres(
      'billing_ledger',
      `update event_log.consumer_groups set position = 0
        where topic = '${TOPIC_GENERATION_SETTLED}' and group_name = 'relay'`,
    );
    await Promise.all([ledger.start(), aggregator.start()]);
    await cluster.ready();
    await areKnown(unread.ids);
    expect(await audited()).toEqual(books);
    await generate(2);
  });
});
