import { telemetryEnvironment } from '@gateway/telemetry';
import { logLevelSetting, millisecondsSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';

/** What every service of a cluster is told. */
export const serviceSettings = {
  /** Of all of its servers. */
  GATEWAY_HOST: z.string().default('0.0.0.0'),
  GATEWAY_RPC_PORT: portSetting.default(50_051),
  GATEWAY_ADMIN_PORT: portSetting.default(8_082),
  /**
   * A folder with `ca.crt`, `tls.crt` and `tls.key`, as certificate managers
   * mount them: calls between services then need certificates of that
   * authority on both sides. Renewed files are taken up without a restart.
   */
  GATEWAY_RPC_TLS_DIR: z.string().optional(),
  /** For what runs, from the signal to the end. */
  GATEWAY_SHUTDOWN_GRACE_MS: millisecondsSetting.default(30_000),
  LOG_LEVEL: logLevelSetting.default('info'),
  ...telemetryEnvironment,
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceSettings>>;
