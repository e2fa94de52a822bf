import { setTimeout as delay } from 'node:timers/promises';
import { ensureDatabases } from '@gateway/cluster';
import {
  startPostgresGroup,
  type PostgresGroup,
  type PostgresGroupOptions,
  type PostgresNode,
} from '@gateway/dev-infra';
import { eventually } from '@gateway/test-support';
import { Client } from 'pg';
import type { LabPostgres } from './lab-datastores';
import { failover, type Scenario } from './scenario';
import type { Fault } from '../faults';

/** How long an old primary stays in its state after another one has taken over. */
const OUTAGE_MS = 8_000;
const POLL_MS = 10;
/** How long an asynchronous standby receives nothing before it is promoted. */
const LOST_MS = 4_000;
const REPAIR_TIMEOUT_MS = 60_000;

function scenario(
  name: string,
  options: PostgresGroupOptions,
  faultsOf: (group: PostgresGroup) => readonly Fault[],
): Scenario {
  return {
    name,
    async run(lab) {
      const group = await startPostgresGroup(options);
      try {
        return await lab.runUnderLoad({ postgres: await databasesOf(group) }, faultsOf(group));
      } finally {
        await group.stop();
      }
    },
  };
}

async function databasesOf(group: PostgresGroup): Promise<LabPostgres> {
  const adminUrl = () => group.primary().urlOf('postgres');
  const single = await ensureDatabases(adminUrl());
  const host = `127.0.0.1:${group.primary().port}`;
  const entries = Object.entries(single).map(([database, url]) => [
    database,
    `${url.replace(host, group.hosts)}?target_session_attrs=read-write`,
  ]);
  return { databases: Object.fromEntries(entries) as LabPostgres['databases'], adminUrl };
}

/** The old primary serves reads, and refuses writes. */
async function demoteAndPromote(group: PostgresGroup): Promise<void> {
  const old = group.primary();
  await old.query('alter system set default_transaction_read_only = on');
  await old.query('select pg_reload_conf()');
  // The setting applies to new transactions.
  while ((await old.query('select from pg_stat_activity where backend_xid is not null')).length > 0)
    await delay(POLL_MS);
  await group.failOver();
  await delay(OUTAGE_MS);
  await group.rejoin();
}

/** The standby lacks what the primary committed last. */
async function promoteWithoutLatest(group: PostgresGroup): Promise<void> {
  const primary = group.primary();
  const standby = group.servers.find((server) => server !== primary) as PostgresNode;
  await standby.stopReceiving();
  await delay(LOST_MS);
  const committed = await countSettlements(primary);
  if ((await countSettlements(standby)) >= committed) throw new Error('the standby lacks no settlement');
  await primary.kill();
  await group.failOver();
  await eventually(
    'every lost settlement is repeated',
    async () => (await countSettlements(standby)) >= committed || undefined,
    { timeoutMs: REPAIR_TIMEOUT_MS },
  );
}

async function countSettlements(server: PostgresNode): Promise<number> {
  const client = new Client({ connectionString: server.urlOf('billing_ledger') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::integer as count from billing_ledger.postings where kind = 'settlement'`,
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

const postgresAsynchronous = scenario('postgres-asynchronous', { standbys: 1 }, (group) => [
  failover('switchover: the primary is shut down and becomes a standby', () => group.switchOver()),
  failover('kill -9 of the primary, and a standby without its last commits is promoted', () =>
    promoteWithoutLatest(group),
  ),
]);

const postgresSynchronous = scenario('postgres-synchronous', { standbys: 2, synchronous: true }, (group) => [
  failover('kill -9 of the primary, and a synchronous standby is promoted', async () => {
    await group.primary().kill();
    await group.failOver();
    await group.rejoin();
  }),
  failover('the primary becomes read-only without a restart, and a standby is promoted', () =>
    demoteAndPromote(group),
  ),
  failover('kill -9 of one of two synchronous standbys', async () => {
    const standby = group.servers.find((server) => server !== group.primary());
    await standby?.kill();
    await delay(OUTAGE_MS);
    await standby?.start();
  }),
]);

const postgresSilent = scenario('postgres-silent', { standbys: 2, synchronous: true }, (group) => [
  failover('the primary goes silent, and a synchronous standby is promoted', async () => {
    group.primary().freeze();
    await group.failOver();
    await delay(OUTAGE_MS);
    await group.rejoin();
  }),
]);

export const POSTGRES_SCENARIOS: readonly Scenario[] = [
  postgresAsynchronous,
  postgresSynchronous,
  postgresSilent,
];
