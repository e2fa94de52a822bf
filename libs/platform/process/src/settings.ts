import { telemetryEnvironment } from '@gateway/telemetry';
import { logLevelSetting, millisecondsSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';

/** Settings of every service of a cluster. */
export const serviceSettings = {
  GATEWAY_HOST: z.string().default('0.0.0.0').describe('Address on which all servers of the process listen.'),
  GATEWAY_RPC_PORT: portSetting
    .default(50_051)
    .describe('Port of the gRPC server. edge-proxy and dashboard-api serve no gRPC.'),
  GATEWAY_ADMIN_PORT: portSetting.default(8_082).describe('Port of `/livez`, `/readyz` and `/metrics`.'),
  GATEWAY_RPC_TLS_DIR: z
    .string()
    .optional()
    .describe(
      'Folder with `ca.crt`, `tls.crt` and `tls.key`. With it calls between services use mutual TLS. Renewed files are loaded without a restart.',
    ),
  GATEWAY_SHUTDOWN_GRACE_MS: millisecondsSetting
    .default(30_000)
    .describe(
      'Milliseconds that running requests have to finish after SIGTERM. Give the orchestrator 15 seconds more.',
    ),
  LOG_LEVEL: logLevelSetting
    .default('info')
    .describe(
      '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Lines are JSON, or readable text on a terminal.',
    ),
  ...telemetryEnvironment,
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceSettings>>;
