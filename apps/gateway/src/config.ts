import path from 'node:path';
import { peopleEnvironment, requireWholeOidc } from '@gateway/people';
import { billingLedgerEnvironment } from '@gateway/billing-ledger';
import { dashboardApiEnvironment } from '@gateway/dashboard-api';
import { edgeProxyEnvironment } from '@gateway/edge-proxy';
import { eventLogEnvironment } from '@gateway/events';
import { inferenceRouterEnvironment } from '@gateway/inference-router';
import { mailEnvironment } from '@gateway/mail';
import {
  databaseUrlSetting,
  logLevelSetting,
  millisecondsSetting,
  portSetting,
  readConfig,
} from '@gateway/runtime';
import { telemetryEnvironment } from '@gateway/telemetry';
import { usageAggregatorEnvironment } from '@gateway/usage';
import { statementsEnvironment } from '@gateway/statements';
import { z } from 'zod';

const SHUTDOWN_GRACE_MS = 30_000;

/**
 * Every setting of the embedded gateway, by the name of its environment variable.
 * `<NAME>_FILE` reads a setting from a file. docs/configuration.md lists them; a test
 * compares the two.
 */
export const settings = z
  .object({
    ...edgeProxyEnvironment,
    ...dashboardApiEnvironment,
    ...inferenceRouterEnvironment,
    ...peopleEnvironment,
    ...billingLedgerEnvironment,
    ...statementsEnvironment,
    ...usageAggregatorEnvironment,
    ...eventLogEnvironment,
    ...mailEnvironment,
    ...telemetryEnvironment,
    GATEWAY_HOST: z.string().default('127.0.0.1'),
    GATEWAY_ADMIN_PORT: portSetting.optional(),
    GATEWAY_STATE_DIR: z.string().default('.gateway'),
    DATABASE_URL: databaseUrlSetting.optional(),
    LOG_LEVEL: logLevelSetting.default('info'),
    GATEWAY_SHUTDOWN_GRACE_MS: millisecondsSetting.default(SHUTDOWN_GRACE_MS),
  })
  .superRefine(requireWholeOidc);

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
