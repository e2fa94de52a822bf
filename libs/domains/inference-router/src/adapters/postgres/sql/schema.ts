import { AUDIT_ENTRIES_TABLE } from '@gateway/audit';
import type { DatabaseSchema } from '@gateway/database';
import baseline from './schema.sql';

export const INFERENCE_ROUTER_SCHEMA = 'inference_router';

/** Owned by the inference router. */
export const inferenceRouterSchema: DatabaseSchema = {
  schema: INFERENCE_ROUTER_SCHEMA,
  migrations: [{ name: '0.1.0_baseline', sql: `${baseline}\n${AUDIT_ENTRIES_TABLE}` }],
  functions: {},
};
