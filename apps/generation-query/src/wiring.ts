import { openSchema, type ServiceDeps, type ServiceSchema, type ServiceWiring } from '@gateway/process';
import { openGenerationQueryModule, usageSchema } from '@gateway/usage';
import type { Config } from './config';

const USAGE: ServiceSchema = { ...usageSchema, maxConnections: 8 };

export const schemas = [USAGE];

export async function wireGenerationQuery(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { pool, isAvailable } = await openSchema(USAGE, deps);
  return { modules: [openGenerationQueryModule({ pool })], ready: isAvailable };
}
