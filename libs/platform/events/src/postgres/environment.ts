import { DAY_MS } from '@gateway/base';
import { daysSetting } from '@gateway/runtime';
import type { z } from 'zod';
import type { EventLogLimits } from '../delivery/limits';

const RETENTION_DAYS = 7;

/** Settings of every app with an event log in PostgreSQL. */
export const eventLogEnvironment = {
  GATEWAY_EVENT_RETENTION_DAYS: daysSetting
    .min(1)
    .default(RETENTION_DAYS)
    .describe('Days for which an event is kept after all consumer groups have handled it.'),
};

export function eventLogLimitsOf(
  values: z.output<z.ZodObject<typeof eventLogEnvironment>>,
): Pick<EventLogLimits, 'retentionMs'> {
  return { retentionMs: values.GATEWAY_EVENT_RETENTION_DAYS * DAY_MS };
}
