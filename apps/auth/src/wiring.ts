import { AUTH_SCHEMA, authSchema, makeOperator, openAuthModule, readTimeZones } from '@gateway/auth';
import { createDatabaseClock, createPool } from '@gateway/database';
import { openMailer } from '@gateway/mail';
import { openOperatorNotificationsModule } from '@gateway/operator-notifications';
import {
  openSchema,
  type ServiceCommand,
  type ServiceDeps,
  type ServiceSchema,
  type ServiceWiring,
} from '@gateway/process';
import { createMetrics, createSilentLogger, systemClock } from '@gateway/runtime';
import type { Config } from './config';

const AUTH: ServiceSchema = { ...authSchema, maxConnections: 10 };

export const schemas = [AUTH];

export async function wireAuth(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { config, log, metrics } = deps;
  const { pool, sessions, clock, isAvailable } = await openSchema(AUTH, deps);
  const mailer = openMailer(config);
  const encryptionKeys = config.GATEWAY_SECRETS_KEY;
  const shared = { config, pool, clock, mailer, encryptionKeys, log };
  const notifications = openOperatorNotificationsModule({
    ...shared,
    timeZones: (emails) => readTimeZones(pool, emails),
    dashboardUrl: () => config.GATEWAY_DASHBOARD_ORIGIN,
  });
  const auth = openAuthModule({ ...shared, sessions, metrics, endpoints: notifications.endpoints });
  return { modules: [auth, notifications], ready: isAvailable };
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
    const log = createSilentLogger();
    const clock = createDatabaseClock({
      pool,
      schema: AUTH_SCHEMA,
      clock: systemClock,
      metrics: createMetrics({ processMetrics: false }),
      log,
    });
    try {
      await clock.start();
      const granted = await makeOperator({ pool, clock, log, email, dashboardUrl });
      const until = new Date(granted.expiresAt).toISOString();
      return `${email} is an operator. Choose a password at this link before ${until}:\n\n  ${granted.link}`;
    } finally {
      await clock.stop();
      await pool.end();
    }
  },
};
