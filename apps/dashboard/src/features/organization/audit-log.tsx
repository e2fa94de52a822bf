import type { Result } from '@gateway/dashboard-contract/client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { present } from '../../app/search';
import { Button } from '../../ui/button';
import { Field, Input, Select } from '../../ui/field';
import { Badge } from '../../ui/notice';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Text, Time } from '../../ui/values';
import { AuditChanges } from './audit-changes';
import type { AuditSearch } from './audit-search';

export type AuditEntry = Result<'GET /api/audit'>['data'][number];

const ACTIONS = [
  { value: 'key.', label: 'Keys' },
  { value: 'organization.', label: 'Organization and limits' },
  { value: 'credit', label: 'Credit' },
  { value: 'membership.', label: 'Members' },
  { value: 'invitation.', label: 'Invitations' },
  { value: 'member.', label: 'Accounts' },
  { value: 'session.', label: 'Sessions' },
  { value: 'target.', label: 'Drained targets' },
] as const;

const DAY_MS = 86_400_000;

interface AuditLogProps {
  /** Absent: of everything. */
  readonly organizationId?: string;
  readonly search: AuditSearch;
  readonly onSearch: (search: AuditSearch) => void;
}

/** Who changed what, when, and what it was before. */
export function AuditLog({ organizationId, search, onSearch }: AuditLogProps) {
  const log = useInfiniteQuery({
    queryKey: ['audit', organizationId ?? '', search],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filtersOf(search), page_token: pageParam };
      return organizationId === undefined
        ? api.call('GET /api/audit', { query, signal })
        : api.call('GET /api/organizations/{organization_id}/audit', {
            params: { organization_id: organizationId },
            query,
            signal,
          });
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const rows = log.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Filters search={search} onSearch={onSearch} />
      {log.error ? (
        <Failure error={log.error} what="the audit log" onRetry={() => void log.refetch()} />
      ) : log.isPending ? (
        <SkeletonRows rows={8} />
      ) : rows.length === 0 ? (
        <Empty icon="book" title="No entry is like that">
          Every change of keys, limits, credit and people is noted here, with what was before. Take a filter
          away to see more.
        </Empty>
      ) : (
        <div className="grid gap-3">
          <Table
            caption="Audit log"
            rows={rows}
            columns={COLUMNS}
            rowId={({ id }) => id}
            stale={log.isPlaceholderData}
          />
          {log.hasNextPage && (
            <Button
              className="justify-self-center"
              busy={log.isFetchingNextPage}
              onClick={() => void log.fetchNextPage()}
            >
              Earlier entries
            </Button>
          )}
        </div>
      )}
    </>
  );
}

function filtersOf(search: AuditSearch) {
  const at = (day: string | undefined, days: number) => {
    const start = /^\d{4}-\d{2}-\d{2}$/.test(day ?? '') ? Date.parse(day ?? '') : Number.NaN;
    return Number.isNaN(start) ? undefined : new Date(start + days * DAY_MS).toISOString();
  };
  return present({
    action: search.action,
    actor_id: search.actor,
    target: search.target,
    since: at(search.since, 0),
    until: at(search.until, 1),
  });
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: 'at',
    header: 'When',
    cell: ({ row: { original: entry } }) => <Time at={entry.created_at} className="text-ink-soft" />,
  },
  {
    id: 'who',
    header: 'Who',
    cell: ({ row: { original: entry } }) => (
      <>
        <Text>{entry.actor.label}</Text>
        {entry.actor.ip_address !== '' && (
          <p className="text-xs text-ink-faint">
            <Id>{entry.actor.ip_address}</Id>
          </p>
        )}
      </>
    ),
  },
  {
    id: 'what',
    header: 'What',
    cell: ({ row: { original: entry } }) => (
      <>
        <Id>{entry.action}</Id>
        {entry.outcome !== 'done' && (
          <>
            {' '}
            <Badge tone={entry.outcome === 'failed' ? 'bad' : 'warn'}>{entry.outcome}</Badge>
          </>
        )}
        <p className="text-xs text-ink-faint">
          <Id>{entry.target}</Id>
        </p>
        <div className="mt-1 sm:hidden">
          <AuditChanges details={entry.details} />
        </div>
      </>
    ),
  },
  {
    id: 'changes',
    header: 'Before and after',
    meta: { hide: 'phone' },
    cell: ({ row: { original: entry } }) => <AuditChanges details={entry.details} />,
  },
];

interface FiltersProps {
  readonly search: AuditSearch;
  readonly onSearch: (search: AuditSearch) => void;
}

function Filters({ search, onSearch }: FiltersProps) {
  const [target, setTarget] = useState(search.target ?? '');
  const change = (changes: Partial<AuditSearch>) =>
    onSearch(present({ ...search, ...changes }) as AuditSearch);
  return (
    <form
      className="flex flex-wrap items-end gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        change({ target: target.trim() || undefined });
      }}
    >
      <Field label="About">
        <Select
          className="!w-52"
          value={search.action ?? ''}
          onChange={({ target: { value } }) => change({ action: value || undefined })}
        >
          <option value="">Everything</option>
          {ACTIONS.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
          {search.action !== undefined && !ACTIONS.some(({ value }) => value === search.action) && (
            <option>{search.action}</option>
          )}
        </Select>
      </Field>
      <Field label="From">
        <Input
          type="date"
          className="!w-36"
          value={search.since ?? ''}
          onChange={({ target: { value } }) => change({ since: value || undefined })}
        />
      </Field>
      <Field label="To, included">
        <Input
          type="date"
          className="!w-36"
          value={search.until ?? ''}
          onChange={({ target: { value } }) => change({ until: value || undefined })}
        />
      </Field>
      <Field label="Of the thing with this id">
        <Input
          className="!w-64 font-mono !text-sm"
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
      </Field>
      <Button type="submit">Find</Button>
      {Object.keys(search).length > 0 && (
        <Button
          kind="quiet"
          onClick={() => {
            setTarget('');
            onSearch({});
          }}
        >
          Take filters away
        </Button>
      )}
    </form>
  );
}
