import type { Migration } from '@gateway/database';
import usage from './20261120090000_usage/migration.sql';
import usageSource from './20261121180000_usage_source/migration.sql';
import partitions from './20261122010000_generation_partitions/migration.sql';
import reconciliation from './20261122060000_reconciliation/migration.sql';
import tableNames from './20261122090000_generation_table_names/migration.sql';

/** The history of the `usage` schema. */
export const usageMigrations: readonly Migration[] = [
  { name: '20261120090000_usage', sql: usage },
  { name: '20261121180000_usage_source', sql: usageSource },
  { name: '20261122010000_generation_partitions', sql: partitions },
  { name: '20261122060000_reconciliation', sql: reconciliation },
  { name: '20261122090000_generation_table_names', sql: tableNames },
];
