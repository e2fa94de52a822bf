import { insertAuditEntry } from '@gateway/audit';
import type { UnixMs } from '@gateway/base';
import { inTransaction } from '@gateway/database';
import type { Pool } from 'pg';
import type { SwitchedOff, SwitchStore } from '../../core/resilience/switched-off';
import { INFERENCE_ROUTER_SCHEMA } from './sql/schema';

interface Row {
  readonly name: string;
  readonly since_unix_ms: bigint;
  readonly switched_off_by: string;
  readonly reason: string;
}

/** Drained targets or disabled models in PostgreSQL, shared by all routers. */
export function createPostgresSwitchStore(
  pool: Pool,
  table: 'drained_targets' | 'disabled_models',
): SwitchStore {
  return {
    async read() {
      const { rows } = await pool.query<Row>(
        `select name, since_unix_ms, switched_off_by, reason from ${table}`,
      );
      return new Map(rows.map((row): [string, SwitchedOff] => [row.name, switchedOffOf(row)]));
    },
    write: (name, off, audit) =>
      inTransaction(pool, async (client) => {
        const { rowCount } = off
          ? // Keeps the first operator's entry when two switch off the same thing.
            await client.query(`insert into ${table} values ($1, $2, $3, $4) on conflict (name) do nothing`, [
              name,
              off.since,
              off.by,
              off.reason,
            ])
          : await client.query(`delete from ${table} where name = $1`, [name]);
        if (rowCount) await insertAuditEntry(client, INFERENCE_ROUTER_SCHEMA, audit);
      }),
  };
}

function switchedOffOf(row: Row): SwitchedOff {
  return { since: Number(row.since_unix_ms) as UnixMs, by: row.switched_off_by, reason: row.reason };
}
