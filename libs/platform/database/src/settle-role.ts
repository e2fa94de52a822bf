import type { ClientBase, Pool } from 'pg';
import { DEFAULT_STATEMENT_TIMEOUT_MS, MAX_IDLE_IN_TRANSACTION_MS } from './pool';
import { assertSchemaName } from './schema-name';
import { inTransaction } from './transaction';

/**
 * Gives the role that connects what a pool without a pooler sets for each of its
 * sessions: where unqualified names are looked up, the zone of its times, how
 * long a statement may take, and that none is compiled. It holds for connections made from now on, in
 * this database. Any number of processes may do it at once.
 *
 * @throws Error when the role looks up its names in another schema: domains that
 *   share a database behind a pooler need a role each.
 */
export async function settleRole(pool: Pool, schema: string): Promise<void> {
  assertSchemaName(schema);
  const wanted = new Map([
    ['search_path', schema],
    ['TimeZone', 'UTC'],
    ['statement_timeout', String(DEFAULT_STATEMENT_TIMEOUT_MS)],
    ['idle_in_transaction_session_timeout', String(MAX_IDLE_IN_TRANSACTION_MS)],
    ['jit', 'off'],
  ]);
  await inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('settings of ' || current_user, 0))`);
    const { database, settings } = await readRole(client);
    const path = settings.get('search_path');
    if (path !== undefined && path !== schema) {
      throw new Error(
        `the role of schema ${schema} looks up its names in '${path}': ` +
          'behind a pooler each domain needs a role, or a database, of its own',
      );
    }
    for (const [name, value] of wanted) {
      if (settings.get(name) === value) continue;
      const on = client.escapeIdentifier(database);
      await client.query(
        `alter role current_user in database ${on} set ${name} = ${client.escapeLiteral(value)}`,
      );
    }
  });
}

interface RoleRow {
  readonly database: string;
  /** Such as `search_path=auth`. */
  readonly settings: readonly string[];
}

async function readRole(
  client: ClientBase,
): Promise<{ readonly database: string; readonly settings: ReadonlyMap<string, string> }> {
  const { rows } = await client.query<RoleRow>(`
    select datname as database, coalesce(setconfig, '{}') as settings
    from pg_database
    left join pg_db_role_setting on setdatabase = oid
      and setrole = (select oid from pg_roles where rolname = current_user)
    where datname = current_database()`);
  const { database = '', settings = [] } = rows[0] ?? {};
  const pairs = settings.map((setting): [string, string] => {
    const at = setting.indexOf('=');
    return [setting.slice(0, at), setting.slice(at + 1)];
  });
  return { database, settings: new Map(pairs) };
}
