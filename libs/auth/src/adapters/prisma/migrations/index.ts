import type { Migration } from '@gateway/database';
import init from './20261120090000_init/migration.sql';

/** The migrations of the `auth` schema, in order. */
export const authMigrations: readonly Migration[] = [{ name: '20261120090000_init', sql: init }];
