import { daysSetting } from '@gateway/runtime';

const MIN_RETENTION_DAYS = 31;
const RETENTION_DAYS = 400;

/** Settings of each app that runs the usage aggregator. */
export const usageAggregatorEnvironment = {
  GATEWAY_GENERATION_RETENTION_DAYS: daysSetting.min(MIN_RETENTION_DAYS).default(RETENTION_DAYS),
};
