/**
 * A program that tests run and kill: starts the server on a state folder, inserts
 * rows one by one, and prints the id of each once its commit is acknowledged.
 */
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../start-embedded-postgres';

async function main(stateDirectory: string): Promise<void> {
  const ignore = () => undefined;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const postgres = await startEmbeddedPostgres({ stateDirectory, log });
  process.stdout.write(`server ${postgres.pid}\n`);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('create table if not exists acknowledged (id int8 generated always as identity)');
  for (;;) {
    const { rows } = await client.query<{ id: string }>(
      'insert into acknowledged default values returning id',
    );
    process.stdout.write(`row ${rows[0]?.id}\n`);
  }
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
