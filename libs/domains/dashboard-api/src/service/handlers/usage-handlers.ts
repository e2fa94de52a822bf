import { endpoints, parts, type JsonOf } from '@gateway/dashboard-contract';
import { CSV_PAGE_SIZE } from '../http/csv-pages';
import { csvFields, sendCsv, type CsvColumns } from '../http/csv';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

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
          yield data.slice(from, from + CSV_CHUNK_ROWS);
        }
      }
      const days = [query.start, query.end].map((time) => time.slice(0, 10)).join('_');
      return sendCsv(
        response,
        `usage_${days}_utc.csv`,
        columnsFor({ keyNames, projectNames, byValue }),
        chunks(),
      );
    }),
  ];
}

interface CsvContext {
  readonly keyNames: Names;
  readonly projectNames: Names;
  /** Whether the rows are of end users or values of a tag. */
  readonly byValue: boolean;
}

function columnsFor({ keyNames, projectNames, byValue }: CsvContext): CsvColumns<Point> {
  const nameIn = (names: Names, id: string | null) => (id === null ? null : (names.get(id) ?? null));
  return {
    start_utc: ({ start }) => start,
    ...csvFields('model_id', 'key_id'),
    key_name: ({ key_id: id }) => nameIn(keyNames, id),
    ...csvFields('project_id'),
    project_name: ({ project_id: id }) => nameIn(projectNames, id),
    ...csvFields('value'),
    other_values: ({ value }) => (byValue ? value === null : null),
    ...csvFields('requests', 'errors', 'cancelled', 'refused', 'prompt_tokens', 'cached_tokens'),
    ...csvFields('cache_write_tokens', 'cache_write_1h_tokens', 'image_tokens', 'completion_tokens'),
    ...csvFields('reasoning_tokens', 'cost_usd', 'spend_usd'),
    ...latencyColumns('duration'),
    ...latencyColumns('time_to_first_token'),
  };
}

function latencyColumns(name: 'duration' | 'time_to_first_token'): CsvColumns<Point> {
  return Object.fromEntries(
    (['mean_ms', 'p50_ms', 'p95_ms'] as const).map((figure) => [
      `${name}_${figure}`,
      ({ [name]: latency }: Point) => latency && Math.round(latency[figure]),
    ]),
  );
}
