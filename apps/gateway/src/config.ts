import path from 'node:path';
import { peopleEnvironment, requireCompleteOidc } from '@gateway/people';
import { billingLedgerEnvironment } from '@gateway/billing-ledger';
import { dashboardApiEnvironment } from '@gateway/dashboard-api';
import { databaseUrlSetting, queryTimeoutSetting } from '@gateway/database';
import { edgeProxyEnvironment } from '@gateway/edge-proxy';
import { eventLogEnvironment } from '@gateway/events';
import { requireBothTlsFiles } from '@gateway/http-server';
import { inferenceRouterEnvironment } from '@gateway/inference-router';
import { mailEnvironment } from '@gateway/mail';
import { logLevelSetting, millisecondsSetting, portSetting, readConfig } from '@gateway/runtime';
import { telemetryEnvironment } from '@gateway/telemetry';
import { usageAggregatorEnvironment } from '@gateway/usage';
import { webhookEnvironment } from '@gateway/webhooks';
import { z } from 'zod';

const SHUTDOWN_GRACE_MS = 30_000;

/**
 * Every setting of the embedded gateway, by the name of its environment variable. `<NAME>_FILE` reads a setting from a
 * file. docs/reference/configuration.md is generated from these and the services' settings.
 */
export const settings = z
  .object({
    ...edgeProxyEnvironment,
    ...dashboardApiEnvironment,
    ...inferenceRouterEnvironment,
    ...peopleEnvironment,
    ...billingLedgerEnvironment,
    ...webhookEnvironment,
    ...usageAggregatorEnvironment,
    ...eventLogEnvironment,
    ...mailEnvironment,
    ...telemetryEnvironment,
    GATEWAY_HOST: z
      .string()
      .default('127.0.0.1')
      .describe('Address on which all servers of the process listen.'),
    GATEWAY_ADMIN_PORT: portSetting
      .optional()
      .describe(
        'Port of `/livez`, `/readyz` and `/metrics`. The embedded gateway uses 8082, or a free port when that is taken.',
      ),
    GATEWAY_STATE_DIR: z
      .string()
      .default('.gateway')
      .describe('Folder of the embedded database, the settlement spool and `dev.json`.'),
    DATABASE_URL: databaseUrlSetting
      .optional()
      .describe(
        'PostgreSQL database of the service: `postgres://user:password@host:port/database`, with several hosts `@host1:port1,host2:port2/`. The embedded gateway starts its own PostgreSQL without it.',
      ),
    GATEWAY_DATABASE_QUERY_TIMEOUT_MS: queryTimeoutSetting,
    LOG_LEVEL: logLevelSetting
      .default('info')
      .describe(
        '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Lines are JSON, or readable text on a terminal.',
      ),
    GATEWAY_SHUTDOWN_GRACE_MS: millisecondsSetting
      .default(SHUTDOWN_GRACE_MS)
      .describe(
        'Milliseconds that running requests have to finish after Ctrl-C or SIGTERM. Of the services, edge-proxy and inference-router have 30000 by default, because they carry generations.',
      ),
  })
  .superRefine(requireCompleteOidc)
  .superRefine(requireBothTlsFiles);

export type Config = z.output<typeof settings> & {
  readonly stateDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Reads the environment once. @throws ConfigError with all errors together */
export function loadConfig(): Config {
  const environment = { ...process.env };
  const values = readConfig(settings, environment);
  return { ...values, stateDirectory: path.resolve(values.GATEWAY_STATE_DIR), environment };
}
