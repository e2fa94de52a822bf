import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { DatabaseLog } from './log';
import { MigrationError } from './migration-error';

export interface SchemaFunctions {
  readonly schema: string;
  /** Each function's `create or replace function` statement, by name. */
  readonly functions: Readonly<Record<string, string>>;
  readonly log?: Pick<DatabaseLog, 'info'>;
}

/**
 * Replaces the functions of a schema whose SQL text has changed, and drops those
 * without a text, in one transaction. A function's comment in the database is the
 * checksum of its text. Call it under the migration lock, with the schema as
 * search path.
 *
 * @throws MigrationError if a function fails. A function with other arguments or
 *   another result type needs another name, since running processes call the old one.
 */
export async function applyFunctions(client: PoolClient, { schema, functions, log }: SchemaFunctions) {
  const applied = await readApplied(client, schema);
  const changed = Object.entries(functions).filter(([name, sql]) => applied.get(name) !== checksumOf(sql));
  const removed = [...applied.keys()].filter((name) => !(name in functions));
  if (changed.length === 0 && removed.length === 0) return;
  let current = '';
  try {
    await client.query('begin');
    for (const name of removed) {
      current = name;
      await client.query(`drop routine "${name}"`);
    }
    for (const [name, sql] of changed) {
      current = name;
      await client.query(sql);
      // Fails if there are two functions with this name.
      await client.query(`comment on function "${name}" is '${checksumOf(sql)}'`);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`function ${current} of schema ${schema} failed: ${reason}`, { cause: error });
  }
  log?.info({ schema, replaced: changed.map(([name]) => name), dropped: removed }, 'functions applied');
}

async function readApplied(client: PoolClient, schema: string): Promise<Map<string, string | null>> {
  const { rows } = await client.query<{ name: string; checksum: string | null }>(
    `select proname as name, obj_description(oid, 'pg_proc') as checksum
     from pg_proc where pronamespace = to_regnamespace($1)`,
    [`"${schema}"`],
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}
