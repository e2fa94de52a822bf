export { createDatabaseClock, type DatabaseClock, type DatabaseClockOptions } from './database-clock';
export { createDatabaseMonitor, type DatabaseMonitor, type DatabaseState } from './database-monitor';
export { DatabasePool } from './database-pool';
export { databaseUrlSetting, queryTimeoutSetting } from './database-settings';
export { parseDatabaseUrl } from './database-url';
export * from './log';
export { MigrationError } from './migration-error';
export * from './migrations';
export * from './partitions';
export { createPool, MAX_IDLE_IN_TRANSACTION_MS, type PoolOptions } from './pool';
export { configureRole } from './configure-role';
export * from './sql-arrays';
export * from './transaction';
export { isDatabaseUnavailable, isTransientDatabaseError } from './transient-error';
export {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from './embedded/start-embedded-postgres';
export { EmbeddedPostgresError } from './embedded/postgres-error';
export { FolderLockedError, lockFolder, type FolderLock } from './embedded/folder-lock';
export { findFreePort } from './embedded/free-port';
export { CHILD_ENVIRONMENT, initializeCluster, SUPERUSER } from './embedded/initialize-cluster';
export { prepareServer, type PreparedServer } from './embedded/prepare-server';
