import { apiTypeOf, DAY_MS, type UnixMs } from '@gateway/base';
import { inTransaction, plainArray, textArray } from '@gateway/database';
import type { Pool } from 'pg';
import type { RefusalStore } from '../../core/ports';
import {
  MAX_REFUSED_REQUESTS,
  type RefusedFilter,
  type RefusedInOrganization,
  type RefusedRequest,
} from '../../core/refusals';
import { ADD_TO_ERROR_COUNTS } from './error-counts';

/** Reports are rare. One at a time, so that none deletes requests that another one adds. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended(current_schema || '.record_refusals', 0))`;

/** $1 reporter, $2 number, $3 now. No row for a report that is recorded already. */
const START_REPORT = `
  insert into refusal_reporters as known (reporter_id, last_report_number, reported_unix_ms)
  values ($1, $2, $3)
  on conflict (reporter_id) do update
    set last_report_number = excluded.last_report_number, reported_unix_ms = excluded.reported_unix_ms
    where known.last_report_number < excluded.last_report_number
  returning reporter_id`;

/** The sum of rows with the same key, which a statement may insert once only. */
const ADD_COUNTS = `
  with reported as (
    select organization_id, hour_unix_ms, error_code, model_id, key_id, project_id, api_type,
           sum(requests)::bigint as requests
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
      as given (organization_id, hour_unix_ms, error_code, model_id, key_id, project_id, api_type, requests)
    group by 1, 2, 3, 4, 5, 6, 7
  )
  ${ADD_TO_ERROR_COUNTS('requests', '0', 'reported')}`;

const ADD_LATEST = `
  insert into refused_requests
    (request_id, organization_id, key_id, model, error_code, error_message, api_type, refused_unix_ms)
  select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
  on conflict do nothing`;

/** $1 organizations and $2 error codes, with repetitions. */
const DELETE_ALL_BUT_LATEST = `
  delete from refused_requests request
  using (
    select distinct organization_id, error_code
    from unnest($1::text[], $2::text[]) as given (organization_id, error_code)
  ) reported
  where request.organization_id = reported.organization_id collate "C"
    and request.error_code = reported.error_code collate "C"
    and request.request_id not in (
      select latest.request_id from refused_requests latest
      where latest.organization_id = reported.organization_id collate "C"
        and latest.error_code = reported.error_code collate "C"
      order by latest.refused_unix_ms desc, latest.request_id desc
      limit ${MAX_REFUSED_REQUESTS}
    )`;

/** Rows deleted per table and round. */
const MAX_DELETED_ROWS = 50_000;
const deleteOlder = (table: string, time: string) => `
  delete from ${table} where ctid = any (array(
    select ctid from ${table} where ${time} < $1 limit ${MAX_DELETED_ROWS}
  ))`;
const DELETE_COUNTS = deleteOlder('error_counts_hourly', 'hour_unix_ms');
const DELETE_REQUESTS = deleteOlder('refused_requests', 'refused_unix_ms');
/** A report is repeated for minutes at most. */
const REPORTER_RETENTION_MS = 30 * DAY_MS;
const DELETE_REPORTERS = deleteOlder('refusal_reporters', 'reported_unix_ms');

export function createPostgresRefusalStore(pool: Pool): RefusalStore {
  return {
    record: ({ reporterId, reportNumber, counts, latest }, now) =>
      inTransaction(pool, async (client) => {
        await client.query(LOCK);
        const { rows } = await client.query(START_REPORT, [reporterId, reportNumber, now]);
        if (rows.length === 0) return false;
        await client.query(DELETE_REPORTERS, [now - REPORTER_RETENTION_MS]);
        await client.query(ADD_COUNTS, [
          textArray(counts, ({ organizationId }) => organizationId),
          plainArray(counts, ({ hour }) => hour),
          textArray(counts, ({ errorCode }) => errorCode),
          textArray(counts, ({ modelId }) => modelId),
          textArray(counts, ({ keyId }) => keyId),
          textArray(counts, ({ projectId }) => projectId),
          textArray(counts, ({ apiType }) => apiType),
          plainArray(counts, ({ requests }) => requests),
        ]);
        const organizations = textArray(latest, ({ organizationId }) => organizationId);
        const errorCodes = textArray(latest, ({ errorCode }) => errorCode);
        await client.query(ADD_LATEST, [
          textArray(latest, ({ requestId }) => requestId),
          organizations,
          textArray(latest, ({ keyId }) => keyId),
          textArray(latest, ({ model }) => model),
          errorCodes,
          textArray(latest, ({ errorMessage }) => errorMessage),
          textArray(latest, ({ apiType }) => apiType),
          plainArray(latest, ({ refusedAt }) => refusedAt),
        ]);
        await client.query(DELETE_ALL_BUT_LATEST, [organizations, errorCodes]);
        return true;
      }),
    async deleteBefore(oldest) {
      await pool.query(DELETE_COUNTS, [oldest]);
      await pool.query(DELETE_REQUESTS, [oldest]);
    },
  };
}

/** $1 organization, $2 request or null, $3 key or null, $4 model or null, $5 error code or null, $6 max rows, $7 API or null. */
const LIST_REFUSED = {
  name: 'usage.list_refused',
  text: `
  select request_id, key_id, model, error_code, error_message, api_type, refused_unix_ms
  from refused_requests
  where organization_id = $1 and ($2::text is null or request_id = $2)
    and ($3::text is null or key_id = $3) and ($4::text is null or model = $4)
    and ($5::text is null or error_code = $5) and ($7::text is null or api_type = $7)
  order by refused_unix_ms desc, request_id desc
  limit $6`,
};

interface RefusedRow {
  readonly request_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly error_code: string;
  readonly error_message: string;
  readonly api_type: string;
  readonly refused_unix_ms: bigint;
}

export async function listRefused(
  pool: Pool,
  { organizationId, requestId, keyId, model, errorCode, apiType }: RefusedFilter,
  limit: number,
): Promise<readonly RefusedRequest[]> {
  const { rows } = await pool.query<RefusedRow>({
    ...LIST_REFUSED,
    values: [
      organizationId,
      requestId ?? null,
      keyId ?? null,
      model ?? null,
      errorCode ?? null,
      limit,
      apiType ?? null,
    ],
  });
  return rows.map(refusedOf);
}

/** $1 request, $2 max rows. */
export const FIND_REFUSED_ANYWHERE = `
  select organization_id, request_id, key_id, model, error_code, error_message, api_type, refused_unix_ms
  from refused_requests
  where request_id = $1
  order by refused_unix_ms desc
  limit $2`;

export async function findRefusedAnywhere(
  pool: Pool,
  requestId: string,
  limit: number,
): Promise<readonly RefusedInOrganization[]> {
  const { rows } = await pool.query<RefusedRow & { readonly organization_id: string }>({
    name: 'usage.find_refused_anywhere',
    text: FIND_REFUSED_ANYWHERE,
    values: [requestId, limit],
  });
  return rows.map((row) => ({ ...refusedOf(row), organizationId: row.organization_id }));
}

function refusedOf(row: RefusedRow): RefusedRequest {
  return {
    requestId: row.request_id,
    keyId: row.key_id,
    model: row.model,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    apiType: apiTypeOf(row.api_type),
    refusedAt: Number(row.refused_unix_ms) as UnixMs,
  };
}
