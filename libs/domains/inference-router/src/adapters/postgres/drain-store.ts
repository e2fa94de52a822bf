import { insertAuditEntry } from '@gateway/audit';
import type { UnixMs } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import type { Pool } from 'pg';
import type { Drained, DrainStore } from '../../core/resilience/drains';
import { INFERENCE_ROUTER_SCHEMA } from './sql/schema';

interface Row {
  readonly target: string;
  readonly since_unix_ms: bigint;
  readonly drained_by: string;
  readonly reason: string;
}

/** Drained targets in PostgreSQL, shared by all routers. */
export function createPostgresDrainStore(pool: Pool): DrainStore {
  return {
    async read() {
      const { rows } = await pool.query<Row>(
        'select target, since_unix_ms, drained_by, reason from drained_targets',
      );
      return new Map(rows.map((row): [string, Drained] => [row.target, drainedOf(row)]));
    },
    write: (target, drained, audit) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = drained
          ? // Keeps the first operator's entry when two drain the same target.
            await client.query(
              'insert into drained_targets values ($1, $2, $3, $4) on conflict (target) do nothing',
              [target, drained.since, drained.by, drained.reason],
            )
          : await client.query('delete from drained_targets where target = $1', [target]);
        if (rowCount) await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
      }),
  };
}

function drainedOf(row: Row): Drained {
  return { since: Number(row.since_unix_ms) as UnixMs, by: row.drained_by, reason: row.reason };
}
