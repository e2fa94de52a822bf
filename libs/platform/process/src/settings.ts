import { telemetryEnvironment } from '@gateway/telemetry';
import { logLevelSetting, millisecondsSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';

/** Settings of every service of a cluster. */
export const serviceSettings = {
  /** The listen address of all servers of the process. */
  GATEWAY_HOST: z.string().default('0.0.0.0'),
  GATEWAY_RPC_PORT: portSetting.default(50_051),
  GATEWAY_ADMIN_PORT: portSetting.default(8_082),
  /**
   * A folder with `ca.crt`, `tls.crt` and `tls.key`, as mounted by certificate
   * managers. Enables mutual TLS between services. Renewed files are loaded
   * without a restart.
   */
  GATEWAY_RPC_TLS_DIR: z.string().optional(),
  /** Time for running calls to finish after a stop signal. */
  GATEWAY_SHUTDOWN_GRACE_MS: millisecondsSetting.default(30_000),
  LOG_LEVEL: logLevelSetting.default('info'),
  ...telemetryEnvironment,
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceSettings>>;
