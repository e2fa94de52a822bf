import { Client } from 'pg';
import { EmbeddedPostgresError } from './postgres-error';

/** The database of the gateway. */
export const DATABASE = 'gateway';
/** Whom the gateway is to the database: owns its own schemas and can do nothing to the server. */
export const APPLICATION_ROLE = 'gateway_application';

const INVALID_PASSWORD = '28P01';

/**
 * Everything of ours that the superuser owns, from before the application had a
 * role of its own. Indexes, sequences of columns, row types and constraints
 * follow their tables.
 */
const OWNED_BY_SUPERUSER = `
  with ours as (
    select oid, nspname from pg_namespace
    where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')
  )
  select format('alter schema %I owner to ${APPLICATION_ROLE}', nspname) as statement
  from ours join pg_namespace using (oid, nspname) where nspowner = 10
  union all
  select format('alter table %I.%I owner to ${APPLICATION_ROLE}', nspname, relname)
  from pg_class join ours on ours.oid = relnamespace
  where relowner = 10 and relkind in ('r', 'p', 'v', 'm', 'f')
  union all
  select format('alter sequence %I.%I owner to ${APPLICATION_ROLE}', nspname, relname)
  from pg_class join ours on ours.oid = relnamespace
  where relowner = 10 and relkind = 'S' and not exists (
    select from pg_depend where pg_depend.objid = pg_class.oid and deptype in ('a', 'i') and refobjsubid > 0)
  union all
  select format('alter routine %s owner to ${APPLICATION_ROLE}', pg_proc.oid::regprocedure)
  from pg_proc join ours on ours.oid = pronamespace where proowner = 10
  union all
  select format('alter type %I.%I owner to ${APPLICATION_ROLE}', nspname, typname)
  from pg_type join ours on ours.oid = typnamespace
  where typowner = 10 and (typtype in ('e', 'd', 'r')
    or (typtype = 'c' and exists (select from pg_class where pg_class.oid = typrelid and relkind = 'c')))`;

/**
 * Makes the application's database and role, and gives the role what an older
 * version left with the superuser. Safe to repeat.
 *
 * @param adminUrlOf the superuser's URL of a database.
 */
export async function ensureApplicationRole(
  adminUrlOf: (database: string) => string,
  password: string,
): Promise<void> {
  await withClient(adminUrlOf('postgres'), async (client) => {
    // A statement that fails is written to the server's log, and this one holds a password.
    await client.query(`set log_min_error_statement = 'panic'`);
    const { rowCount: roles } = await client.query('select from pg_roles where rolname = $1', [
      APPLICATION_ROLE,
    ]);
    await client.query(
      `${roles === 0 ? 'create' : 'alter'} role ${APPLICATION_ROLE} with login nosuperuser nocreatedb nocreaterole ` +
        `password ${client.escapeLiteral(password)}`,
    );
    const { rowCount: databases } = await client.query('select from pg_database where datname = $1', [
      DATABASE,
    ]);
    if (databases === 0) await client.query(`create database ${DATABASE}`);
    await client.query(`alter database ${DATABASE} owner to ${APPLICATION_ROLE}`);
  });
  await withClient(adminUrlOf(DATABASE), async (client) => {
    const { rows } = await client.query<{ statement: string }>(OWNED_BY_SUPERUSER);
    if (rows.length === 0) return;
    await client.query(['begin', ...rows.map(({ statement }) => statement), 'commit'].join(';\n'));
  });
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await work(client);
  } catch (error) {
    if ((error as { code?: string }).code !== INVALID_PASSWORD) throw error;
    throw new EmbeddedPostgresError(
      'the database does not accept the password in the state folder; was postgres-password changed or lost?',
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
