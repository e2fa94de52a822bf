import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import { keyLabel, keysByIdQuery } from '../../api/keys';
import { projectsByIdQuery } from '../../api/projects';
import { blockingErrorOf } from '../../api/transient-error';
import { omitUndefined } from '../../app/search';
import { rangeEnd, rangeStart } from '../../format/time-range';
import { Button } from '../../ui/button';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table } from '../../ui/table';
import { visible } from '../../ui/values';
import { auditColumns } from './audit-columns';
import { AuditFilters } from './audit-filters';
import type { AuditSearch } from './audit-search';
import type { AuditEntry } from './audit-target';
import { CsvLink } from '../../ui/csv-link';

interface AuditLogProps {
  /** Absent: the platform audit log. */
  readonly organizationId?: string;
  readonly search: AuditSearch;
  readonly onSearch: (search: AuditSearch) => void;
}

export function AuditLog({ organizationId, search, onSearch }: AuditLogProps) {
  const query = filtersOf(search);
  // Operators may read the log of each organization.
  const listed = organizationId ?? search.organization;
  const log = useInfiniteQuery({
    queryKey: ['audit', organizationId ?? '', search],
    queryFn: ({ pageParam, signal }) => {
      const page = { page_token: pageParam };
      return listed === undefined
        ? api.call('GET /api/audit', { query: { ...query, ...page }, signal })
        : api.call('GET /api/organizations/{organization_id}/audit', {
            params: { organization_id: listed },
            query: { ...query, ...page },
            signal,
          });
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const rows = log.data?.pages.flatMap(({ data }) => data) ?? [];
  const names = useTargetNames(listed, rows);
  const actorLabel = rows.find(({ actor }) => actor.id === search.actor)?.actor.label;
  return (
    <>
      <div className="justify-self-start">
        <CsvLink
          href={
            listed === undefined
              ? api.url('GET /api/audit.csv', { query })
              : api.url('GET /api/organizations/{organization_id}/audit.csv', {
                  params: { organization_id: listed },
                  query,
                })
          }
        />
      </div>
      <AuditFilters
        organizationId={organizationId}
        search={search}
        actorLabel={actorLabel === undefined ? undefined : visible(actorLabel)}
        onSearch={onSearch}
      />
      {blockingErrorOf(log) ? (
        <Failure error={log.error} what="audit log" onRetry={() => void log.refetch()} />
      ) : log.isPending ? (
        <SkeletonRows rows={8} />
      ) : rows.length === 0 ? (
        <Empty icon="book" title="No matches">
          Changes to keys, limits, credit and people appear here. Clear filters to see more.
        </Empty>
      ) : (
        <div className="grid gap-3">
          <Table
            caption="Audit log"
            rows={rows}
            columns={auditColumns({ search, isPlatform: organizationId === undefined, names })}
            rowId={({ id }) => id}
            stale={log.isPlaceholderData}
          />
          {log.hasNextPage && (
            <Button
              className="justify-self-center"
              busy={log.isFetchingNextPage}
              onClick={() => void log.fetchNextPage()}
            >
              Load more
            </Button>
          )}
        </div>
      )}
    </>
  );
}

/** The names of the keys and projects of one organization, by id. */
function useTargetNames(
  organizationId: string | undefined,
  rows: readonly AuditEntry[],
): ReadonlyMap<string, string> {
  const idsOf = (prefix: string) =>
    [...new Set(rows.map(({ target }) => target).filter((target) => target.startsWith(prefix)))].sort();
  const [keyIds, projectIds] = [idsOf('key-'), idsOf('proj-')];
  const keys = useQuery({
    ...keysByIdQuery(organizationId ?? '', keyIds),
    enabled: organizationId !== undefined && keyIds.length > 0,
  });
  const projects = useQuery({
    ...projectsByIdQuery(organizationId ?? '', projectIds),
    enabled: organizationId !== undefined && projectIds.length > 0,
  });
  return new Map([
    ...(keys.data ?? []).map((key) => [key.id, keyLabel(key)] as const),
    ...(projects.data ?? []).map(({ id, name }) => [id, visible(name)] as const),
  ]);
}

function filtersOf(search: AuditSearch) {
  return omitUndefined({
    action: search.action,
    actor_id: search.actor,
    target: search.target,
    since: rangeStart(search.since),
    until: rangeEnd(search.until),
  });
}
