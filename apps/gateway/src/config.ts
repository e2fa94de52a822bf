import path from 'node:path';
import { isAddressRange } from '@gateway/addresses';
import { DEFAULT_AUTH_SETTINGS } from '@gateway/auth';
import { defaultEdgeProxySettings as edge } from '@gateway/edge-proxy';
import { readConfig, type LogLevel } from '@gateway/runtime';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const milliseconds = z.coerce.number().int().min(1).max(86_400_000);
/** Sessions are seen to the minute. */
const sessionTime = z.coerce
  .number()
  .int()
  .min(5 * 60_000)
  .max(30 * 86_400_000);
/** Claims are renewed about once a second; a lease must outlast a missed renewal. */
const MIN_IDEMPOTENCY_LEASE_MS = 3_000;
/** The longest lease that the billing-ledger grants. */
const MAX_IDEMPOTENCY_LEASE_MS = 3_600_000;
/** A settlement may wait for longer than a day: in the spool, or for a database that is away. */
const MIN_CLOSED_HOLD_RETENTION_DAYS = 7;
const notRanges = (ranges: unknown) =>
  (ranges as string[])
    .filter((range) => !isAddressRange(range))
    .map((range) => JSON.stringify(range))
    .join(', ');
/** Up to a hundred years, which stand for ever. */
const days = z.coerce.number().int().max(36_500);
/** 0 stands for no limit. */
const perMinute = z.coerce.number().int().min(0).max(1_000_000_000);
const logLevels = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
] as const satisfies LogLevel[];

/**
 * Every setting of the embedded gateway: the names of environment variables.
 * Each may also be given as a file by `<NAME>_FILE`. docs/configuration.md
 * describes them; a test keeps the two in step.
 */
export const settings = z.object({
  GATEWAY_HOST: z.string().default('127.0.0.1'),
  GATEWAY_PORT: port.default(8080),
  GATEWAY_DASHBOARD_PORT: port.default(8081),
  GATEWAY_ADMIN_PORT: port.optional(),
  GATEWAY_STATE_DIR: z.string().default('.gateway'),
  GATEWAY_MODELS_FILE: z.string().default('models.yaml'),
  MODEL_EMULATOR_URL: z.url({ protocol: /^http$/, error: 'must be an http:// URL' }).optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' }).optional(),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  GATEWAY_TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .refine((ranges) => ranges.every(isAddressRange), {
      error: ({ input }) => `must be addresses or CIDR ranges, which ${notRanges(input)} is not`,
    }),
  GATEWAY_CORS_ORIGINS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .refine((origins) => origins.every((origin) => origin === '*' || isOrigin(origin)), {
      error:
        'must be "*", or origins such as "https://app.example.com", without a path and separated by commas',
    }),
  GATEWAY_DASHBOARD_ORIGIN: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// origin' })
    .transform((url, context) => {
      const { origin } = new URL(url);
      if (origin === url.replace(/\/$/, '')) return origin;
      context.addIssue('must be an origin alone, such as https://dashboard.example.com, without a path');
      return z.NEVER;
    })
    .optional(),
  GATEWAY_SESSION_LIFETIME_MS: sessionTime.default(DEFAULT_AUTH_SETTINGS.sessionLifetimeMs),
  GATEWAY_SESSION_IDLE_MS: sessionTime.default(DEFAULT_AUTH_SETTINGS.sessionIdleMs),
  GATEWAY_SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  GATEWAY_SMTP_FROM: z.string().min(3).max(320).optional(),
  GATEWAY_MAX_BODY_BYTES: z.coerce
    .number()
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(edge.maxBodyBytes),
  GATEWAY_MAX_BODY_BYTES_OF_ALL: z.coerce
    .number()
    .int()
    .min(1024 * 1024)
    .max(64 * 1024 * 1024 * 1024)
    .default(edge.maxBodyBytesOfAll),
  GATEWAY_MAX_FAILED_AUTHENTICATIONS_PER_MINUTE: perMinute.default(edge.maxFailedAuthenticationsPerMinute),
  GATEWAY_MAX_INVALID_REQUESTS_PER_MINUTE: perMinute.default(edge.maxInvalidRequestsPerMinute),
  GATEWAY_BODY_TIMEOUT_MS: milliseconds.default(edge.bodyTimeoutMs),
  GATEWAY_KEEP_ALIVE_COMMENT_MS: milliseconds.default(edge.keepAliveCommentMs),
  GATEWAY_GENERATION_TIMEOUT_MS: milliseconds.default(edge.generationTimeoutMs),
  GATEWAY_HOLD_MARGIN_MS: milliseconds.default(edge.holdMarginMs),
  GATEWAY_IDEMPOTENCY_LEASE_MS: milliseconds
    .min(MIN_IDEMPOTENCY_LEASE_MS)
    .max(MAX_IDEMPOTENCY_LEASE_MS)
    .default(edge.claimLeaseMs),
  GATEWAY_EVENT_RETENTION_DAYS: days.min(1).default(7),
  GATEWAY_CLOSED_HOLD_RETENTION_DAYS: days.min(MIN_CLOSED_HOLD_RETENTION_DAYS).default(90),
  GATEWAY_GENERATION_RETENTION_DAYS: days.min(31).default(400),
  GATEWAY_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
  GATEWAY_SHUTDOWN_GRACE_MS: milliseconds.default(edge.stopGraceMs),
});

export type Config = z.output<typeof settings> & {
  readonly stateDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Reads the environment once; throws a ConfigError that names all faults together. */
export function loadConfig(): Config {
  const environment = { ...process.env };
  const values = readConfig(settings, environment);
  return { ...values, stateDirectory: path.resolve(values.GATEWAY_STATE_DIR), environment };
}

/** As browsers write it: in lower case, without a path and without the scheme's own port. No patterns. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
