import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { EmbeddedPostgres } from '@gateway/database';
import { takeBaseBackup } from '@gateway/dev-infra';
import { Client } from 'pg';

/** @returns the folder of the backup */
export async function takeBackup({ dataDirectory, adminUrl }: EmbeddedPostgres): Promise<string> {
  const backup = `${dataDirectory}.backup`;
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  // Retains the WAL on disk instead of archiving it.
  await client.query(`alter system set wal_keep_size = '1GB'`);
  await client.query('select pg_reload_conf()');
  await client.end();
  await takeBaseBackup(adminUrl, dataDirectory, backup);
  return backup;
}

/** Replaces the data directory with the backup and recovers to the restore point. */
export function restore(
  { dataDirectory, pid }: EmbeddedPostgres,
  backup: string,
  restorePoint: string,
): void {
  const lost = `${dataDirectory}.lost`;
  rmSync(path.join(backup, 'pg_wal'), { recursive: true });
  const log = path.join(backup, 'pg_wal');
  mkdirSync(log, { mode: 0o700 });
  // The server may run as another user than the test.
  const { uid, gid } = statSync(dataDirectory);
  chownSync(log, uid, gid);
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
