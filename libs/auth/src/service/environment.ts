import { z } from 'zod';
import type { AuthSettings } from '../core/ports';
import { DEFAULT_AUTH_SETTINGS } from './module';

const MIN_SESSION_MS = 5 * 60_000;
const MAX_SESSION_MS = 30 * 86_400_000;
/** Sessions are seen to the minute. */
const sessionTime = z.coerce.number().int().min(MIN_SESSION_MS).max(MAX_SESSION_MS);

/** Settings of each app that runs this module. */
export const authEnvironment = {
  GATEWAY_SESSION_LIFETIME_MS: sessionTime.default(DEFAULT_AUTH_SETTINGS.sessionLifetimeMs),
  GATEWAY_SESSION_IDLE_MS: sessionTime.default(DEFAULT_AUTH_SETTINGS.sessionIdleMs),
};

export function authSettingsOf(
  values: z.output<z.ZodObject<typeof authEnvironment>>,
): Pick<AuthSettings, 'sessionLifetimeMs' | 'sessionIdleMs'> {
  return {
    sessionLifetimeMs: values.GATEWAY_SESSION_LIFETIME_MS,
    sessionIdleMs: values.GATEWAY_SESSION_IDLE_MS,
  };
}
