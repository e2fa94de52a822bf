import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from '@gateway/cluster';
import { eventually } from '@gateway/test-support';
import { Client } from 'pg';
import { restore, takeBackup } from '../testing/postgres-backup';
import { failover, type Scenario } from './scenario';

/** How long a standby receives nothing before it is promoted. */
const LOST_MS = 4_000;
const RESTORE_POINT = 'received by the standby';
const TIMEOUT = { timeoutMs: 60_000 };

/**
 * The state after the promotion of an asynchronous standby: the WAL up to a moment, on a new
 * timeline, at the address of the primary. What the primary committed later is lost.
 */
async function promoteWithoutLatest({ datastores: { postgres } }: Cluster): Promise<void> {
  const query = async <Row>(database: string, text: string): Promise<Row[]> => {
    const url = new URL(postgres.adminUrl);
    url.pathname = `/${database}`;
    const client = new Client({ connectionString: url.toString() });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const countSettlements = async (): Promise<number> => {
    const text = `select count(*)::integer as count from billing_ledger.postings where kind = 'settlement'`;
    return (await query<{ count: number }>('billing_ledger', text))[0]?.count ?? 0;
  };

  const backup = await takeBackup(postgres);
  await query('postgres', `select pg_create_restore_point('${RESTORE_POINT}')`);
  const received = await countSettlements();
  await delay(LOST_MS);
  await query('postgres', 'select pg_switch_wal()');
  const committed = await countSettlements();
  if (committed <= received) throw new Error('nothing was settled that the failover could lose');

  restore(postgres, backup, RESTORE_POINT);
  await eventually(
    'the promotion',
    async () => {
      const rows = await query<{ recovering: boolean }>(
        'postgres',
        'select pg_is_in_recovery() as recovering',
      ).catch(() => []);
      return rows[0]?.recovering === false || undefined;
    },
    TIMEOUT,
  );
  await eventually(
    'every lost settlement is repeated',
    async () => (await countSettlements().catch(() => 0)) >= committed || undefined,
    TIMEOUT,
  );
}

export const postgresAsynchronous: Scenario = {
  name: 'postgres-asynchronous',
  run: (lab) =>
    lab.runUnderLoad({}, (cluster) => [
      failover('promotion of an asynchronous standby', () => promoteWithoutLatest(cluster)),
    ]),
};
