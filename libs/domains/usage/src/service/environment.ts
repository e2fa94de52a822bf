import { daysSetting } from '@gateway/runtime';
import type { z } from 'zod';

const MIN_RETENTION_DAYS = 31;
const RETENTION_DAYS = 400;

/** Settings of every app that runs the usage aggregator. */
export const usageAggregatorEnvironment = {
  GATEWAY_GENERATION_RETENTION_DAYS: daysSetting
    .min(MIN_RETENTION_DAYS)
    .default(RETENTION_DAYS)
    .describe(
      'Days for which single generations are kept, at least 31. Whole months are dropped once their last day is older; hourly and daily sums are kept.',
    ),
};

export type UsageAggregatorEnvironment = z.output<z.ZodObject<typeof usageAggregatorEnvironment>>;
