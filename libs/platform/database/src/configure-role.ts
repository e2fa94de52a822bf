import type { ClientBase, Pool } from 'pg';
import { DEFAULT_QUERY_TIMEOUT_MS, MAX_IDLE_IN_TRANSACTION_MS, statementTimeoutMs } from './pool';
import { assertSchemaName } from './schema-name';
import { inTransaction } from './transaction';

/**
 * Sets the defaults of the current role in this database to the settings that
 * `createPool` applies to direct sessions: search path, time zone, timeouts and
 * no JIT. They apply to new connections. Processes may call it concurrently.
 *
 * @throws Error if the role has another search path: domains that share a
 *   database behind a pooler need separate roles.
 */
export async function configureRole(
  pool: Pool,
  schema: string,
  queryTimeoutMs = DEFAULT_QUERY_TIMEOUT_MS,
): Promise<void> {
  assertSchemaName(schema);
  const wanted = new Map([
    ['search_path', schema],
    ['TimeZone', 'UTC'],
    ['statement_timeout', String(statementTimeoutMs(queryTimeoutMs))],
    ['idle_in_transaction_session_timeout', String(MAX_IDLE_IN_TRANSACTION_MS)],
    ['jit', 'off'],
  ]);
  await inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('settings of ' || current_user, 0))`);
    const { database, settings } = await readRole(client);
    const path = settings.get('search_path');
    if (path !== undefined && path !== schema) {
      throw new Error(
        `the role of schema ${schema} has the search path '${path}': ` +
          'behind a pooler, each domain needs its own role or its own database',
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
