import { pageView, usd } from '@gateway/admin-calls';
import { personLabel } from '@gateway/base';
import { endpoints, type JsonOf } from '@gateway/dashboard-contract';
import type { Response } from 'express';
import { listAudit } from '../audit-log';
import { csvFields, sendCsv, type CsvColumns } from '../http/csv';
import { csvPages, CSV_PAGE_SIZE } from '../http/csv-pages';
import { implement, type Implementation } from '../http/implement';
import { auditEntryForCustomer, auditEntryView, auditFilter } from '../messages/views';
import type { DashboardApiPorts } from '../ports';
import { listKeys } from './key-handlers';

type Item<Of extends { readonly data: readonly unknown[] }> = Of['data'][number];
type Key = Item<Awaited<ReturnType<typeof listKeys>>>;
type Generation = Item<JsonOf<typeof endpoints.generations.list>>;
type AuditEntry = Item<JsonOf<typeof endpoints.audit.list>>;
type AuditQuery = Parameters<typeof auditFilter>[0];

const GENERATION_COLUMNS: CsvColumns<Generation> = {
  ...csvFields('created_at', 'id', 'request_id', 'api_type', 'status', 'error_code', 'finish_reason'),
  ...csvFields('model_id', 'key_id', 'external_user', 'streamed', 'prompt_tokens', 'completion_tokens'),
  ...csvFields('cost_usd', 'charged_usd', 'duration_ms', 'time_to_first_token_ms'),
  tags: ({ tags }) => (Object.keys(tags).length === 0 ? null : JSON.stringify(tags)),
};

const REFUSED_COLUMNS = csvFields(
  ...(['refused_at', 'request_id', 'key_id', 'model', 'api_type', 'error_code', 'error_message'] as const),
);

const KEY_COLUMNS: CsvColumns<Key> = {
  ...csvFields('id', 'name', 'last4', 'kind', 'state', 'project_id', 'created_at', 'revoked_at'),
  owner: ({ owner }) => owner && personLabel(owner),
  scopes: ({ scopes }) => scopes.join(' '),
  // Empty: all models.
  allowed_models: ({ allowed_models: models }) => models?.join(' ') ?? null,
  ip_allowlist: ({ ip_allowlist: ranges }) => ranges.join(' '),
  expires_at: ({ expires_at: at, expires_on: on }) => at ?? on,
  ...csvFields('requests_per_minute', 'tokens_per_minute', 'concurrency'),
  ...csvFields('daily_budget_usd', 'weekly_budget_usd', 'monthly_budget_usd', 'total_budget_usd'),
  last_used_at: ({ activity }) => activity?.last_used_at ?? null,
  spend_today_usd: ({ activity }) => activity?.spend_today_usd ?? null,
  spend_this_month_usd: ({ activity }) => activity?.spend_this_month_usd ?? null,
};

const AUDIT_COLUMNS: CsvColumns<AuditEntry> = {
  ...csvFields('created_at', 'id', 'organization_id', 'action', 'target'),
  actor_id: ({ actor }) => actor.id,
  actor: ({ actor }) => actor.label,
  ip_address: ({ actor }) => actor.ip_address,
  details: ({ details }) => JSON.stringify(details),
};

/** Lists as files, with the filters of their pages. */
export function createExportHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners } = ports;

  function sendAudit(
    response: Response,
    query: AuditQuery,
    organizationId: string | undefined,
    viewOf: (entry: Parameters<typeof auditEntryView>[0]) => AuditEntry,
  ) {
    const pages = csvPages(async (pageToken) => {
      const { entries, nextPageToken } = await listAudit(ports, {
        organizationId,
        pageSize: Number(CSV_PAGE_SIZE),
        pageToken,
        ...auditFilter(query),
      });
      return pageView(entries.map(viewOf), nextPageToken);
    });
    return sendCsv(response, 'audit_utc.csv', AUDIT_COLUMNS, pages);
  }

  return [
    implement(endpoints.generations.csv, ({ params, query, response }) => {
      const { min_cost_usd: least, max_cost_usd: most } = query;
      const filters = {
        ...query,
        min_cost_usd: least === undefined ? undefined : usd(least),
        max_cost_usd: most === undefined ? undefined : usd(most),
      };
      const pages = csvPages((pageToken) =>
        owners['generation-query'].call(endpoints.generations.list, {
          params,
          query: { ...filters, page_size: CSV_PAGE_SIZE, page_token: pageToken },
        }),
      );
      return sendCsv(response, 'generations_utc.csv', GENERATION_COLUMNS, pages);
    }),

    implement(endpoints.generations.refusedCsv, ({ params, query, response }) => {
      const pages = csvPages(async () => {
        const { data } = await owners['generation-query'].call(endpoints.generations.refused, {
          params,
          query,
        });
        return { data, next_page_token: null };
      });
      return sendCsv(response, 'refused_requests_utc.csv', REFUSED_COLUMNS, pages);
    }),

    implement(endpoints.keys.csv, ({ params, query, response }) => {
      const pages = csvPages((pageToken) =>
        listKeys(ports, params.organization_id, {
          ...query,
          page_size: CSV_PAGE_SIZE,
          page_token: pageToken,
        }),
      );
      return sendCsv(response, 'keys_utc.csv', KEY_COLUMNS, pages);
    }),

    implement(endpoints.audit.platformCsv, ({ query, response }) =>
      sendAudit(response, query, undefined, auditEntryView),
    ),

    implement(endpoints.audit.csv, ({ params, query, isOperator, response }) =>
      sendAudit(response, query, params.organization_id, isOperator ? auditEntryView : auditEntryForCustomer),
    ),
  ];
}
