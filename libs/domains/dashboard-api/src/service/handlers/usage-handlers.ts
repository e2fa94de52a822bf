import { endpoints, parts, type JsonOf } from '@gateway/dashboard-contract';
import { CSV_PAGE_SIZE } from '../http/csv-pages';
import { sendCsv, type CsvRow } from '../http/csv';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

const CSV_HEADER: CsvRow = [
  'start_utc',
  'model_id',
  'key_id',
  'key_name',
  'project_id',
  'project_name',
  'value',
  'other_values',
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

/** The most ids of a list of keys or projects. */
const MAX_IDS = 100;
/** Ids that such a list accepts. */
const LISTED_ID = /^[\w-]+$/;

type Point = JsonOf<typeof endpoints.usage.series>['data'][number];
type Names = ReadonlyMap<string, string>;

interface NamedPage {
  readonly data: readonly { readonly id: string; readonly name: string }[];
}

export function createUsageHandlers({ owners, log }: DashboardApiPorts): readonly Implementation[] {
  /** Without names for a requester who may not read them, or while they are unavailable. */
  async function namesOf(
    what: string,
    ids: readonly (string | null)[],
    list: (query: { ids: string; page_size: string }) => Promise<NamedPage>,
  ): Promise<Names> {
    const listed = [...new Set(ids)].filter((id) => id !== null && LISTED_ID.test(id));
    const names = new Map<string, string>();
    try {
      for (let from = 0; from < listed.length; from += MAX_IDS) {
        const some = listed.slice(from, from + MAX_IDS).join(',');
        const { data } = await list({ ids: some, page_size: CSV_PAGE_SIZE });
        for (const { id, name } of data) names.set(id, name);
      }
    } catch (error) {
      log.warn({ err: error }, `exporting usage without the names of ${what}`);
    }
    return names;
  }

  return [
    implement(endpoints.usage.csv, async ({ params, query, response }) => {
      const { data } = await owners['generation-query'].call(endpoints.usage.series, { params, query });
      const [keyNames, projectNames] = await Promise.all([
        namesOf(
          'keys',
          data.map(({ key_id: id }) => id),
          (ids) => owners.auth.call(parts.keys, { params, query: { ...ids, kind: 'all' } }),
        ),
        namesOf(
          'projects',
          data.map(({ project_id: id }) => id),
          (ids) => owners.auth.call(parts.projects, { params, query: { ...ids, state: 'all' } }),
        ),
      ]);
      const byValue = query.split_by === 'user' || query.split_by === 'tag';
      async function* chunks() {
        for (let from = 0; from < data.length; from += CSV_CHUNK_ROWS) {
          yield data
            .slice(from, from + CSV_CHUNK_ROWS)
            .map((point) => csvRowOf(point, { keyNames, projectNames, byValue }));
        }
      }
      const days = [query.start, query.end].map((time) => time.slice(0, 10)).join('_');
      return sendCsv(response, `usage_${days}_utc.csv`, CSV_HEADER, chunks());
    }),
  ];
}

interface CsvContext {
  readonly keyNames: Names;
  readonly projectNames: Names;
  /** Whether the rows are of end users or values of a tag. */
  readonly byValue: boolean;
}

function csvRowOf(point: Point, { keyNames, projectNames, byValue }: CsvContext): CsvRow {
  const { key_id: keyId, project_id: projectId } = point;
  return [
    point.start,
    point.model_id,
    keyId,
    keyId === null ? null : (keyNames.get(keyId) ?? null),
    projectId,
    projectId === null ? null : (projectNames.get(projectId) ?? null),
    point.value,
    byValue ? String(point.value === null) : null,
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
      ...(latency ? [latency.mean_ms, latency.p50_ms, latency.p95_ms].map(Math.round) : [null, null, null]),
    ]),
  ];
}
