import { Client } from 'pg';
import { EmbeddedPostgresError } from './postgres-error';

/** The gateway's database. */
export const DATABASE = 'gateway';
/** The gateway's role. It owns its database and has no privileges on the server. */
export const APPLICATION_ROLE = 'gateway_application';

const INVALID_PASSWORD = '28P01';

/**
 * Creates the application's role and database. Idempotent.
 *
 * @param adminUrlOf returns the superuser's URL of a database.
 */
export async function ensureApplicationRole(
  adminUrlOf: (database: string) => string,
  password: string,
): Promise<void> {
  await withClient(adminUrlOf('postgres'), async (client) => {
    // Failed statements are written to the server's log, and one of these contains a password.
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
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await work(client);
  } catch (error) {
    if ((error as { code?: string }).code !== INVALID_PASSWORD) throw error;
    throw new EmbeddedPostgresError(
      'the database rejects the password in the state folder; was postgres-password changed or lost?',
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
