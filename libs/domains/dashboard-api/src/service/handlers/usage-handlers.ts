import { endpoints, type JsonOf } from '@gateway/dashboard-contract';
import { sendCsv, type CsvRow } from '../http/csv';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

const CSV_HEADER: CsvRow = [
  'start_utc',
  'model_id',
  'key_id',
  'project_id',
  'requests',
  'errors',
  'cancelled',
  'refused',
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'image_tokens',
  'completion_tokens',
  'reasoning_tokens',
  'cost_usd',
  'spend_usd',
  'duration_mean_ms',
  'duration_p50_ms',
  'duration_p95_ms',
  'time_to_first_token_mean_ms',
  'time_to_first_token_p50_ms',
  'time_to_first_token_p95_ms',
];
/** Rows per chunk of a file. */
const CSV_CHUNK_ROWS = 500;

export function createUsageHandlers({ owners }: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.usage.csv, async ({ params, query, response }) => {
      const { data } = await owners['generation-query'].call(endpoints.usage.series, { params, query });
      async function* chunks() {
        for (let from = 0; from < data.length; from += CSV_CHUNK_ROWS) {
          yield data.slice(from, from + CSV_CHUNK_ROWS).map(csvRowOf);
        }
      }
      const days = [query.start, query.end].map((time) => time.slice(0, 10)).join('_');
      return sendCsv(response, `usage_${days}_utc.csv`, CSV_HEADER, chunks());
    }),
  ];
}

function csvRowOf(point: JsonOf<typeof endpoints.usage.series>['data'][number]): CsvRow {
  return [
    point.start,
    point.model_id,
    point.key_id,
    point.project_id,
    point.requests,
    point.errors,
    point.cancelled,
    point.refused,
    point.prompt_tokens,
    point.cached_tokens,
    point.cache_write_tokens,
    point.cache_write_1h_tokens,
    point.image_tokens,
    point.completion_tokens,
    point.reasoning_tokens,
    point.cost_usd,
    point.spend_usd,
    ...[point.duration, point.time_to_first_token].flatMap((latency) => [
      latency?.mean_ms ?? null,
      latency?.p50_ms ?? null,
      latency?.p95_ms ?? null,
    ]),
  ];
}
