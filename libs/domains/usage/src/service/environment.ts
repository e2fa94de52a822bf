import { daysSetting } from '@gateway/runtime';
import type { z } from 'zod';

const MIN_RETENTION_DAYS = 31;
const RETENTION_DAYS = 400;

/** Settings of every app that runs the usage aggregator. */
export const usageAggregatorEnvironment = {
  GATEWAY_GENERATION_RETENTION_DAYS: daysSetting.min(MIN_RETENTION_DAYS).default(RETENTION_DAYS),
};

export type UsageAggregatorEnvironment = z.output<z.ZodObject<typeof usageAggregatorEnvironment>>;
