import { z } from 'zod';
import { endpoint, json, stream } from '../endpoint';
import { apiType, id, page, pageQuery, time, usd } from '../fields';

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
      'The mean is exact. p50 and p95 are interpolated from a histogram with fixed buckets from 10 ms to 90 s, and never exceed its last bound.',
  });

const usageMetrics = z
  .object({
    requests: number.meta({ description: 'Settled generations, including cancelled and failed ones.' }),
    errors: number.meta({ description: 'Generations that failed.' }),
    cancelled: number,
    refused: number.meta({
      description:
        'Requests that ended with an error and have no generation; included neither in requests nor in errors.',
    }),
    prompt_tokens: number.meta({ description: 'Including cached, written and image tokens.' }),
    cached_tokens: number,
    cache_write_tokens: number.meta({ description: "Written to the provider's cache for five minutes." }),
    cache_write_1h_tokens: number.meta({ description: "Written to the provider's cache for one hour." }),
    image_tokens: number,
    completion_tokens: number.meta({ description: 'Including reasoning tokens.' }),
    reasoning_tokens: number,
    cost_usd: usd.meta({ description: 'Usage multiplied by prices.' }),
    spend_usd: usd.meta({ description: 'The amount charged to the balance.' }),
    duration: latency.nullable().meta({
      description: 'From admission to the last event, of requests that did not fail; null without any.',
    }),
    time_to_first_token: latency
      .nullable()
      .meta({ description: 'From admission to the first output of streamed requests; null without any.' }),
  })
  .meta({ id: 'UsageMetrics' });

const usageTag = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, { error: 'must be the name of a usage tag' })
  .optional()
  .meta({
    description: 'The name of a usage tag of the organization; only and always when usage is by tag.',
  });

const usageRange = z.strictObject({
  start: time.meta({ description: 'Rounded down to the hour or day.' }),
  end: time.meta({ description: 'Exclusive; rounded up to the hour or day.' }),
  granularity: z.enum(['hour', 'day']),
  split_by: z.enum(['none', 'model', 'key', 'model,key', 'project', 'user', 'tag']).default('none').meta({
    description:
      'One row per model, per key, per both, per project, per end user, or per value of `tag`. By end user or tag, usage has no filters and no latencies.',
  }),
  tag: usageTag,
  model_id: z.string().max(200).optional(),
  key_id: z.string().max(100).optional(),
  project_id: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'The project of the key when the request was admitted; empty: without a project.' }),
  api_type: apiType.optional(),
});

const groupOrder = z.enum([
  'spend',
  'requests',
  'tokens',
  'prompt_tokens',
  'completion_tokens',
  'errors',
  'refused',
]);

const top = {
  top: z
    .string()
    .regex(/^([1-9]|1\d|20)$/, { error: 'must be an integer from 1 to 20' })
    .optional()
    .meta({
      description:
        'Only the 1 to 20 groups with the highest `top_by`; the others are one row, whose id is null. For one kind of group.',
    }),
  top_by: groupOrder.default('spend'),
};

const usagePoint = usageMetrics
  .extend({
    start: time.meta({ description: 'Start of the hour or day.' }),
    model_id: z.string().nullable().meta({ description: 'Null unless split by model.' }),
    key_id: id.nullable().meta({ description: 'Null unless split by key.' }),
    project_id: id.nullable().meta({
      description: 'Null unless split by project; empty for requests without a project.',
    }),
    value: z.string().nullable().meta({
      description:
        'The end user, or the value of the tag. Null unless split by one of them, and for values beyond the first 1,000 of a day; empty for requests without one.',
    }),
  })
  .meta({ id: 'UsagePoint' });

const usageGroup = usageMetrics
  .extend({
    id: z.string().meta({
      description:
        'Of the model, key or project, the end user, or the value of the tag; empty for requests without one.',
    }),
    other_values: z.boolean().meta({
      description:
        'Whether the sums are of the end users or values beyond the first 1,000 of a day; their id is empty.',
    }),
  })
  .meta({ id: 'UsageGroup' });

const usageSeries = z
  .object({
    timezone: z.literal('UTC'),
    granularity: z.enum(['hour', 'day']),
    start: time.meta({ description: 'Start of the first hour or day.' }),
    end: time.meta({ description: 'End of the last hour or day.' }),
    totals: usageMetrics,
    data: z.array(usagePoint).meta({
      description:
        'Ordered by time, model, key, project and value; hours and days without requests and refused requests are omitted.',
    }),
  })
  .meta({ id: 'UsageSeries' });

const errorCount = z
  .object({
    code: z.string(),
    refused: number.meta({ description: 'Requests that ended with this error and have no generation.' }),
    failed: number.meta({ description: 'Generations that failed with this error.' }),
  })
  .meta({ id: 'ErrorCount' });

const path = '/api/organizations/{organization_id}/usage';

export const usageTotals = z
  .object({ requests: number, errors: number, spend_usd: usd })
  .meta({ id: 'UsageTotals', description: 'Errors are the failed requests among all.' });

export const usageEndpoints = {
  summary: endpoint({
    method: 'GET',
    path: '/api/organizations/{organization_id}/usage/summary',
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'Get the last 30 days, compared with the 30 days before',
    response: json(
      z.object({
        current: usageTotals.meta({ description: 'The last 30 UTC days, today included.' }),
        previous: usageTotals.meta({
          description: 'The 30 UTC days before, up to the same hour of their last day.',
        }),
        spend_last_7_days_usd: usd.meta({ description: 'Of the last 7 times 24 hours.' }),
        top_keys: z
          .array(usageTotals.extend({ key_id: id }))
          .meta({ description: 'The 5 keys with the highest spend in the last 30 days, highest first.' }),
      }),
    ),
  }),
  groups: endpoint({
    method: 'GET',
    path: `${path}/groups`,
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'Sum usage by model, key, project, end user or tag',
    description:
      'Hours and days are UTC, with the limits of usage over time, for any number of groups. A page token is a position in the order at its time. Refused requests have no end user and no tags.',
    query: pageQuery.extend({
      ...usageRange.omit({ split_by: true }).shape,
      group_by: z.enum(['model', 'key', 'project', 'user', 'tag']),
      sort: groupOrder.default('spend'),
      order: z.enum(['desc', 'asc']).default('desc'),
    }),
    response: json(page(usageGroup).extend({ total: number.meta({ description: 'The number of groups.' }) })),
    compressed: true,
  }),
  series: endpoint({
    method: 'GET',
    path,
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'Get usage over time',
    description: `Hours and days are UTC. At most ${USAGE_MAX_DAYS_BY_HOUR} days by hour and ${USAGE_MAX_DAYS_BY_DAY} by day, and 20,000 rows.`,
    query: usageRange.extend(top),
    response: json(usageSeries),
    compressed: true,
  }),
  errors: endpoint({
    method: 'GET',
    path: `${path}/errors`,
    owner: 'generation-query',
    access: 'usage:read',
    summary: 'Count refused requests and failed generations by error code',
    query: usageRange
      .pick({ start: true, model_id: true, key_id: true, project_id: true, api_type: true })
      .extend({
        start: time.meta({ description: 'Rounded down to the hour.' }),
        end: time.meta({ description: 'Exclusive; rounded up to the hour.' }),
      }),
    response: json(z.object({ data: z.array(errorCount).meta({ description: 'Most frequent first.' }) })),
  }),
  csv: endpoint({
    method: 'GET',
    path: `${path}.csv`,
    access: 'usage:read',
    summary: 'Download usage as CSV',
    description:
      'The rows of usage over time, with the names of keys and projects, and durations in whole milliseconds. `other_values` is true in the row of the end users or values beyond the first 1,000 of a day.',
    query: usageRange,
    response: stream('text/csv'),
  }),
} as const;
