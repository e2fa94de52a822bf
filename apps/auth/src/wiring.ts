import { AUTH_SCHEMA, authSchema, makeOperator, openAuthModule } from '@gateway/auth';
import { createPool } from '@gateway/database';
import { openMailer } from '@gateway/mail';
import {
  openSchema,
  type ServiceCommand,
  type ServiceDeps,
  type ServiceSchema,
  type ServiceWiring,
} from '@gateway/process';
import { createSilentLogger } from '@gateway/runtime';
import type { Config } from './config';

const AUTH: ServiceSchema = { ...authSchema, maxConnections: 10 };

export const schemas = [AUTH];

export async function wireAuth(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { config, log, metrics } = deps;
  const { pool, sessions, isAvailable } = await openSchema(AUTH, deps);
  const module = openAuthModule({
    config,
    pool,
    sessions,
    mailer: openMailer(config),
    encryptionKeys: config.GATEWAY_SECRETS_KEY,
    log,
    metrics,
  });
  return { modules: [module], ready: isAvailable };
}

/** `operator EMAIL`: creates the first operator, or restores access when no operator can sign in. */
export const operatorCommand: ServiceCommand<Config> = {
  argument: 'EMAIL',
  async run({ config }, email) {
    const { GATEWAY_DASHBOARD_ORIGIN: dashboardUrl } = config;
    if (dashboardUrl === undefined) throw new Error('Set GATEWAY_DASHBOARD_ORIGIN: the link points there.');
    const pool = createPool({
      url: config.DATABASE_DIRECT_URL ?? config.DATABASE_URL,
      schema: AUTH_SCHEMA,
      applicationName: 'gateway auth operator',
      maxConnections: 2,
    });
    try {
      const granted = await makeOperator({ pool, log: createSilentLogger(), email, dashboardUrl });
      const until = new Date(granted.expiresAt).toISOString();
      return `${email} is an operator. Choose a password at this link before ${until}:\n\n  ${granted.link}`;
    } finally {
      await pool.end();
    }
  },
};
