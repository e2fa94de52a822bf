import type { Migration } from '@gateway/database';
import drains from './20261122023000_drains/migration.sql';

/** The history of the `inference_router` schema. */
export const inferenceRouterMigrations: readonly Migration[] = [
  { name: '20261122023000_drains', sql: drains },
];
