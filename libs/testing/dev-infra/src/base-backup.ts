import { execFile } from 'node:child_process';
import { chown, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';

const run = promisify(execFile);

/**
 * Copies the data folder of a running server on this machine, with PostgreSQL's backup functions, as pg_basebackup does.
 *
 * @param url for a superuser
 */
export async function takeBaseBackup(url: string, dataDirectory: string, copy: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('copy', true)`);
    await run('cp', ['-a', dataDirectory, copy]);
    const { rows } = await client.query<{ labelfile: string }>('select * from pg_backup_stop()');
    await rm(join(copy, 'postmaster.pid'), { force: true });
    await writeOwned(copy, 'backup_label', rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
}

/** Writes a file that belongs to the owner of its folder: the server may run as another user than the test. */
export async function writeOwned(directory: string, name: string, text: string): Promise<void> {
  const file = join(directory, name);
  await writeFile(file, text, { mode: 0o600 });
  const { uid, gid } = await stat(directory);
  await chown(file, uid, gid);
}
