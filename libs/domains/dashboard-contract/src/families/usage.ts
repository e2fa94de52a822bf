import { z } from 'zod';
import { endpoint, json, stream } from '../endpoint';
import { id, time, usd } from '../fields';

/** Nothing is refused for its size but what no page shows: longer ranges by day, wider ones with fewer groups. */
const USAGE_MAX_DAYS_BY_HOUR = 31;
const USAGE_MAX_DAYS_BY_DAY = 366;

const number = z.int().min(0);

const latency = z
  .object({
    mean_ms: z.number(),
    p50_ms: z.number(),
    p95_ms: z.number(),
  })
  .meta({
    id: 'Latency',
    description:
      'The mean is exact; p50 and p95 are estimated within the buckets of a fixed histogram (100 ms to 90 s), whose last bound is the most they say.',
  });

const usageMetrics = z
  .object({
    requests: number.meta({ description: 'settled generations, with those that were cancelled or failed' }),
    errors: number.meta({
      description: 'generations that failed after they had begun; what was refused before is none',
    }),
    cancelled: number,
    prompt_tokens: number.meta({ description: 'with cached and image tokens' }),
    cached_tokens: number,
    image_tokens: number,
    completion_tokens: number.meta({ description: 'with reasoning tokens' }),
    reasoning_tokens: number,
    cost_usd: usd.meta({ description: 'usage times prices' }),
    spend_usd: usd.meta({ description: 'what was taken from the balance' }),
    duration: latency.nullable().meta({ description: 'from admission to the end; null of no requests' }),
    time_to_first_token: latency
      .nullable()
      .meta({ description: 'from admission to the first output of streamed requests; null of none' }),
  })
  .meta({ id: 'UsageMetrics' });

const usageRange = z.strictObject({
  start: time.meta({ description: 'from this moment on; to the hour or day that it is in' }),
  end: time.meta({ description: 'before this moment; to the end of the hour or day that it is in' }),
  granularity: z.enum(['hour', 'day']),
  split_by: z
    .enum(['none', 'model', 'key', 'model,key'])
    .default('none')
    .meta({ description: 'rows for each model, key, or both' }),
  model_id: z.string().max(200).optional(),
  key_id: z.string().max(100).optional(),
});

const usagePoint = usageMetrics
  .extend({
    start: time.meta({ description: 'when its hour or day begins' }),
    model_id: z.string().nullable().meta({ description: 'null unless split by model' }),
    key_id: id.nullable().meta({ description: 'null unless split by key' }),
  })
  .meta({ id: 'UsagePoint' });

const usageSeries = z
  .object({
    timezone: z.literal('UTC'),
    granularity: z.enum(['hour', 'day']),
    start: time.meta({ description: 'when the first hour or day begins' }),
    end: time.meta({ description: 'when the last one ends' }),
    totals: usageMetrics,
    data: z
      .array(usagePoint)
      .meta({ description: 'by time, model, key; hours and days without requests are left out' }),
  })
  .meta({ id: 'UsageSeries' });

const path = '/api/organizations/{organization_id}/usage';

export const usageEndpoints = {
  series: endpoint({
    method: 'GET',
    path,
    who: 'usage:read',
    summary: 'Usage over time',
    description: `Hours and days are those of UTC. At most ${USAGE_MAX_DAYS_BY_HOUR} days by hour and ${USAGE_MAX_DAYS_BY_DAY} by day, and 20,000 rows.`,
    query: usageRange,
    answer: json(usageSeries),
  }),
  csv: endpoint({
    method: 'GET',
    path: `${path}.csv`,
    who: 'usage:read',
    summary: 'The same rows as a CSV file',
    query: usageRange,
    answer: stream('text/csv'),
  }),
} as const;
