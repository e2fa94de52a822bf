import type { Migration } from '@gateway/database';
import init from './20261120090000_init/migration.sql';
import versions from './20261122013500_versions/migration.sql';
import memberships from './20261122014500_memberships/migration.sql';
import keyRotation from './20261122020500_key_rotation/migration.sql';
import credentials from './20261122022000_credentials/migration.sql';
import sessionKeys from './20261122051500_session_keys/migration.sql';
import singleSignOn from './20261122043500_single_sign_on/migration.sql';

/** The migrations of the `auth` schema, in order. */
export const authMigrations: readonly Migration[] = [
  { name: '20261120090000_init', sql: init },
  { name: '20261122013500_versions', sql: versions },
  { name: '20261122014500_memberships', sql: memberships },
  { name: '20261122020500_key_rotation', sql: keyRotation },
  { name: '20261122022000_credentials', sql: credentials },
  { name: '20261122043500_single_sign_on', sql: singleSignOn },
  { name: '20261122051500_session_keys', sql: sessionKeys },
];
