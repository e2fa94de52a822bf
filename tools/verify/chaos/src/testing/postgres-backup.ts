import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EmbeddedPostgres } from '@gateway/database';
import { Client } from 'pg';

/** A base backup by PostgreSQL's own functions, as pg_basebackup takes it. */
export async function takeBackup({ dataDirectory, adminUrl }: EmbeddedPostgres): Promise<string> {
  const backup = `${dataDirectory}.backup`;
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  // What an archive_command does for good is done here by keeping the log.
  await client.query(`alter system set wal_keep_size = '1GB'`);
  await client.query('select pg_reload_conf()');
  await client.query(`select pg_backup_start('test', true)`);
  execFileSync('cp', ['-a', dataDirectory, backup]);
  const { rows } = await client.query<{ labelfile: string }>('select * from pg_backup_stop()');
  writeFileSync(path.join(backup, 'backup_label'), rows[0]?.labelfile ?? '');
  await client.end();
  return backup;
}

/** Puts the backup in the place of what is lost, and has it follow the log to the moment. */
export function restore({ dataDirectory, pid }: EmbeddedPostgres, backup: string, moment: string): void {
  const lost = `${dataDirectory}.lost`;
  rmSync(path.join(backup, 'postmaster.pid'), { force: true });
  rmSync(path.join(backup, 'pg_wal'), { recursive: true });
  const log = path.join(backup, 'pg_wal');
  mkdirSync(log, { mode: 0o700 });
  // Whoever runs the test may not be who runs the server.
  const { uid, gid } = statSync(dataDirectory);
  for (const made of [log, path.join(backup, 'backup_label')]) chownSync(made, uid, gid);
  appendFileSync(
    path.join(backup, 'postgresql.auto.conf'),
    [
      `restore_command = 'cp "${lost}/pg_wal/%f" "%p"'`,
      `recovery_target_name = '${moment}'`,
      `recovery_target_action = 'promote'\n`,
    ].join('\n'),
  );
  execFileSync('cp', ['-a', path.join(backup, 'PG_VERSION'), path.join(backup, 'recovery.signal')]);
  renameSync(dataDirectory, lost);
  renameSync(backup, dataDirectory);
  process.kill(pid, 'SIGKILL');
}
