import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Client } from 'pg';

export interface TestDatabase {
  /** For a role with all rights in this database. */
  readonly url: string;
  readonly name: string;
  /** Closes remaining connections and drops the database. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database on a real PostgreSQL server. Create it in `beforeAll` and drop
 * it in `afterAll` of a test file. The server is that of TEST_DATABASE_URL, or one that
 * the jest run shares.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = await findServer();
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await execute(serverUrl, `create database ${name} template template0 encoding 'UTF8' locale 'C'`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    name,
    drop: () => execute(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

async function findServer(): Promise<string> {
  const configured = process.env['TEST_DATABASE_URL'];
  if (configured) return configured;
  const port = process.env['GATEWAY_TEST_POSTGRES_PORT'];
  if (!port)
    throw new Error('no test server: run with the global setup of jest.config.mjs, or set TEST_DATABASE_URL');
  const result = JSON.parse(await readAll(Number(port))) as { url?: string; error?: string };
  if (!result.url) throw new Error(`the test server did not start: ${result.error}`);
  return result.url;
}

function readAll(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    connect({ host: '127.0.0.1', port })
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .on('end', () => resolve(text))
      .on('error', reject);
  });
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
