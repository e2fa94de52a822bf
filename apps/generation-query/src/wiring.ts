import { openSchema, type ServiceParts, type ServiceWiring } from '@gateway/process';
import {
  createGenerationQueryModule,
  createPostgresUsageReader,
  USAGE_SCHEMA,
  usageMigrations,
} from '@gateway/usage';
import type { Config } from './config';

const MAX_CONNECTIONS = 8;

export async function wireGenerationQuery(parts: ServiceParts<Config>): Promise<ServiceWiring> {
  const { pool, answers } = await openSchema(
    {
      url: parts.config.DATABASE_URL,
      schema: USAGE_SCHEMA,
      migrations: usageMigrations,
      maxConnections: MAX_CONNECTIONS,
    },
    parts,
  );
  return {
    modules: [createGenerationQueryModule({ reader: createPostgresUsageReader(pool) })],
    ready: answers,
  };
}
