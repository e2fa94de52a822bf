import { authSchema, createAuthAdapters, createAuthModule } from '@gateway/auth';
import { openMailer } from '@gateway/mail';
import { oidcSettingsOf, peopleSettingsOf } from '@gateway/people';
import { openSchema, type ServiceParts, type ServiceSchema, type ServiceWiring } from '@gateway/process';
import { newId, systemClock as clock } from '@gateway/runtime';
import type { Config } from './config';

const AUTH: ServiceSchema = { ...authSchema, maxConnections: 10 };

export const schemas = [AUTH];

export async function wireAuth(parts: ServiceParts<Config>): Promise<ServiceWiring> {
  const { config, log, metrics } = parts;
  const { pool, sessions, answers } = await openSchema(AUTH, parts);
  const module = createAuthModule({
    adapters: createAuthAdapters({
      pool,
      sessions,
      log,
      mailer: openMailer(config),
      oidc: oidcSettingsOf(config),
      sealingKeys: config.GATEWAY_SECRETS_KEY,
    }),
    clock,
    newId,
    log,
    metrics,
    settings: peopleSettingsOf(config),
  });
  return { modules: [module], ready: answers };
}
