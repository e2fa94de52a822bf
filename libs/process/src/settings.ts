import { checkTarget } from '@gateway/rpc/grpc';
import type { LogLevel } from '@gateway/runtime';
import { z } from 'zod';

const LOG_LEVELS = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
] as const satisfies LogLevel[];
const MAX_GRACE_MS = 86_400_000;

export const portSetting = z.coerce.number().int().min(0).max(65_535);
export const databaseUrlSetting = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
export const redisUrlSetting = z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' });

/** Where another service is: `host:port`, or several with commas between. */
export const targetSetting = z.string().superRefine((target, context) => {
  try {
    checkTarget(target);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

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
  GATEWAY_SHUTDOWN_GRACE_MS: z.coerce.number().int().min(1).max(MAX_GRACE_MS).default(30_000),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
};

export type ServiceConfig = z.output<z.ZodObject<typeof serviceSettings>>;
