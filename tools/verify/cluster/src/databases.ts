import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { DATABASES, type DatabaseName } from './services';

const PASSWORD_BYTES = 18;

/**
 * Creates a database and its owner role for each domain. A role cannot connect to other
 * databases. Each call sets new passwords.
 *
 * @returns the databases' URLs
 */
export async function ensureDatabases(adminUrl: string): Promise<Record<DatabaseName, string>> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    // Failed statements would be logged, and these contain passwords.
    await client.query(`set log_min_error_statement = 'panic'`);
    const urls: Partial<Record<DatabaseName, string>> = {};
    for (const database of DATABASES) urls[database] = await ensureDatabase(client, adminUrl, database);
    return urls as Record<DatabaseName, string>;
  } finally {
    await client.end();
  }
}

async function ensureDatabase(client: Client, adminUrl: string, database: DatabaseName): Promise<string> {
  const role = `gateway_${database}`;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const { rowCount: roles } = await client.query('select from pg_roles where rolname = $1', [role]);
  await client.query(
    `${roles === 0 ? 'create' : 'alter'} role ${role} with login nosuperuser nocreatedb nocreaterole ` +
      `password ${client.escapeLiteral(password)}`,
  );
  const { rowCount: databases } = await client.query('select from pg_database where datname = $1', [
    database,
  ]);
  if (databases === 0) await client.query(`create database ${database} owner ${role}`);
  await client.query(`revoke connect on database ${database} from public`);
  const url = new URL(adminUrl);
  url.username = role;
  url.password = password;
  url.pathname = `/${database}`;
  return url.toString();
}
