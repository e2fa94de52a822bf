import { z } from 'zod';
import type { LogLevel } from './logger';

/** Zod schemas for common kinds of settings. */

const MAX_MS = 86_400_000;
/** A hundred years: in effect unlimited. */
const MAX_DAYS = 36_500;
const LOG_LEVELS = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
] as const satisfies LogLevel[];

export const portSetting = z.coerce.number().int().min(0).max(65_535);
/** At most one day. */
export const millisecondsSetting = z.coerce.number().int().min(1).max(MAX_MS);
export const daysSetting = z.coerce.number().int().max(MAX_DAYS);
export const logLevelSetting = z.enum(LOG_LEVELS);

/** `true` or `false`. */
export const flagSetting = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Comma-separated items. Empty text has no items. */
export const listSetting = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
);

/** A list of some of these names, separated by commas. */
export function namesSetting<Name extends string>(names: readonly Name[]) {
  return listSetting
    .refine((given) => given.every((name) => (names as readonly string[]).includes(name)), {
      error: `must be a list of ${names.join(', ')}, separated by commas`,
    })
    .transform((given): readonly Name[] => names.filter((name) => given.includes(name)));
}

/** An http or https origin, without a path. */
export const originSetting = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// origin' })
  .transform((url, context) => {
    const { origin } = new URL(url);
    if (origin === url.replace(/\/$/, '')) return origin;
    context.addIssue('must be an origin without a path, such as https://dashboard.example.com');
    return z.NEVER;
  });
