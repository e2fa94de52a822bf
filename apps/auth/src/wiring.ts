import { authSchema, openAuthModule } from '@gateway/auth';
import { openMailer } from '@gateway/mail';
import { openSchema, type ServiceParts, type ServiceSchema, type ServiceWiring } from '@gateway/process';
import type { Config } from './config';

const AUTH: ServiceSchema = { ...authSchema, maxConnections: 10 };

export const schemas = [AUTH];

export async function wireAuth(parts: ServiceParts<Config>): Promise<ServiceWiring> {
  const { config, log, metrics } = parts;
  const { pool, sessions, answers } = await openSchema(AUTH, parts);
  const module = openAuthModule({
    config,
    pool,
    sessions,
    mailer: openMailer(config),
    sealingKeys: config.GATEWAY_SECRETS_KEY,
    log,
    metrics,
  });
  return { modules: [module], ready: answers };
}
