import type { AuditEntry, ListAuditResponse } from '@gateway/contracts/auth';
import type { DashboardApiPorts } from './ports';

type ListAuditRequest = Parameters<DashboardApiPorts['auditLogs'][number]['listAudit']>[0];

/** One page of the audit logs of all services, newest first. Each pages by id, and ids sort by time. */
export async function listAudit(
  { auditLogs }: Pick<DashboardApiPorts, 'auditLogs'>,
  request: ListAuditRequest,
): Promise<ListAuditResponse> {
  const pages = await Promise.all(auditLogs.map((log) => log.listAudit(request)));
  // Two services of one database serve the same entries of its event log.
  const byId = new Map<string, AuditEntry>(
    pages.flatMap(({ entries }) => entries.map((entry): [string, AuditEntry] => [entry.id, entry])),
  );
  const sorted = [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
  const entries = sorted.slice(0, request.pageSize);
  const hasMore = sorted.length > entries.length || pages.some(({ nextPageToken }) => nextPageToken !== '');
  return { entries, nextPageToken: hasMore ? (entries.at(-1)?.id ?? '') : '' };
}
