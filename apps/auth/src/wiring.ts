import { authSchema, openAuthModule } from '@gateway/auth';
import { openMailer } from '@gateway/mail';
import { openSchema, type ServiceDeps, type ServiceSchema, type ServiceWiring } from '@gateway/process';
import type { Config } from './config';

const AUTH: ServiceSchema = { ...authSchema, maxConnections: 10 };

export const schemas = [AUTH];

export async function wireAuth(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { config, log, metrics } = deps;
  const { pool, sessions, clock, isAvailable } = await openSchema(AUTH, deps);
  const module = openAuthModule({
    config,
    pool,
    sessions,
    clock,
    mailer: openMailer(config),
    encryptionKeys: config.GATEWAY_SECRETS_KEY,
    log,
    metrics,
  });
  return { modules: [module], ready: isAvailable };
}
