import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EmbeddedPostgres } from '@gateway/database';
import { Client } from 'pg';

/** Takes a base backup with PostgreSQL's backup functions, as pg_basebackup does. */
export async function takeBackup({ dataDirectory, adminUrl }: EmbeddedPostgres): Promise<string> {
  const backup = `${dataDirectory}.backup`;
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  // Retains the WAL on disk instead of archiving it.
  await client.query(`alter system set wal_keep_size = '1GB'`);
  await client.query('select pg_reload_conf()');
  await client.query(`select pg_backup_start('test', true)`);
  execFileSync('cp', ['-a', dataDirectory, backup]);
  const { rows } = await client.query<{ labelfile: string }>('select * from pg_backup_stop()');
  writeFileSync(path.join(backup, 'backup_label'), rows[0]?.labelfile ?? '');
  await client.end();
  return backup;
}

/** Replaces the data directory with the backup and recovers to the restore point. */
export function restore(
  { dataDirectory, pid }: EmbeddedPostgres,
  backup: string,
  restorePoint: string,
): void {
  const lost = `${dataDirectory}.lost`;
  rmSync(path.join(backup, 'postmaster.pid'), { force: true });
  rmSync(path.join(backup, 'pg_wal'), { recursive: true });
  const log = path.join(backup, 'pg_wal');
  mkdirSync(log, { mode: 0o700 });
  // The server may run as another user than the test.
  const { uid, gid } = statSync(dataDirectory);
  for (const created of [log, path.join(backup, 'backup_label')]) chownSync(created, uid, gid);
  appendFileSync(
    path.join(backup, 'postgresql.auto.conf'),
    [
      `restore_command = 'cp "${lost}/pg_wal/%f" "%p"'`,
      `recovery_target_name = '${restorePoint}'`,
      `recovery_target_action = 'promote'\n`,
    ].join('\n'),
  );
  execFileSync('cp', ['-a', path.join(backup, 'PG_VERSION'), path.join(backup, 'recovery.signal')]);
  renameSync(dataDirectory, lost);
  renameSync(backup, dataDirectory);
  process.kill(pid, 'SIGKILL');
}
