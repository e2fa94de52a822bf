import type { Migration } from '@gateway/database';
import init from './20261120090000_init/migration.sql';
import versions from './20261122013500_versions/migration.sql';

/** The migrations of the `auth` schema, in order. */
export const authMigrations: readonly Migration[] = [
  { name: '20261120090000_init', sql: init },
  { name: '20261122013500_versions', sql: versions },
];
