import { endpoints } from '@gateway/dashboard-contract';
import { sendCsv, type CsvRow } from '../http/csv';
import { implement, type Implementation } from '../http/implement';
import {
  seriesRequest,
  usageMetricsView,
  usagePointView,
  usageTotalsView,
  type UsageRangeQuery,
} from '../messages/usage-views';
import { isoTime, usd } from '../messages/views';
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

export function createUsageHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { generationReports, clock } = ports;

  const readSeries = (organizationId: string, query: UsageRangeQuery) =>
    generationReports.getUsageSeries(seriesRequest(organizationId, query));

  return [
    implement(endpoints.usage.series, async ({ params, query }) => {
      const { startUnixMs, endUnixMs, totals, points } = await readSeries(params.organization_id, query);
      return {
        timezone: 'UTC' as const,
        granularity: query.granularity,
        start: isoTime(startUnixMs),
        end: isoTime(endUnixMs),
        totals: usageMetricsView(totals),
        data: points.map(usagePointView),
      };
    }),

    implement(endpoints.usage.errors, async ({ params, query }) => {
      const { errors } = await generationReports.getErrorCounts({
        organizationId: params.organization_id,
        startUnixMs: BigInt(Date.parse(query.start)),
        endUnixMs: BigInt(Date.parse(query.end)),
        modelId: query.model_id,
        keyId: query.key_id,
        projectId: query.project_id,
      });
      const data = errors.map(({ errorCode, refused, failed }) => ({
        code: errorCode,
        refused: Number(refused),
        failed: Number(failed),
      }));
      return { data };
    }),

    implement(endpoints.usage.summary, async ({ params }) => {
      const summary = await generationReports.getUsageSummary({
        organizationId: params.organization_id,
        nowUnixMs: BigInt(clock.now()),
      });
      return {
        current: usageTotalsView(summary.current),
        previous: usageTotalsView(summary.previous),
        spend_last_7_days_usd: usd(summary.chargedLast7DaysNanoUsd),
        top_keys: summary.topKeys.map(({ keyId, totals }) => ({ key_id: keyId, ...usageTotalsView(totals) })),
      };
    }),

    implement(endpoints.usage.csv, async ({ params, query, response }) => {
      const { points } = await readSeries(params.organization_id, query);
      async function* chunks() {
        for (let from = 0; from < points.length; from += CSV_CHUNK_ROWS) {
          yield points
            .slice(from, from + CSV_CHUNK_ROWS)
            .map(usagePointView)
            .map(csvRowOf);
        }
      }
      const days = [query.start, query.end].map((time) => time.slice(0, 10)).join('_');
      return sendCsv(response, `usage_${days}_utc.csv`, CSV_HEADER, chunks());
    }),
  ];
}

function csvRowOf(point: ReturnType<typeof usagePointView>): CsvRow {
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
