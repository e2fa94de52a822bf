import { openSchema, type ServiceParts, type ServiceSchema, type ServiceWiring } from '@gateway/process';
import { openGenerationQueryModule, usageSchema } from '@gateway/usage';
import type { Config } from './config';

const USAGE: ServiceSchema = { ...usageSchema, maxConnections: 8 };

export const schemas = [USAGE];

export async function wireGenerationQuery(parts: ServiceParts<Config>): Promise<ServiceWiring> {
  const { pool, answers } = await openSchema(USAGE, parts);
  return { modules: [openGenerationQueryModule({ pool })], ready: answers };
}
