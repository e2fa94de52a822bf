import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Organization } from '../../api/organizations';
import { blockingErrorOf } from '../../api/transient-error';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { DebouncedInput } from '../../ui/debounced-input';
import { Dialog } from '../../ui/dialog';
import { LoadMore } from '../../ui/load-more';
import { Badge } from '../../ui/notice';
import { Page } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money, Text, Time } from '../../ui/values';
import { CreateOrganizationForm } from './create-organization-form';
import { OrganizationActions } from './organization-actions';
import { RunningVersion } from './running-version';

const route = getRouteApi('/signed-in/operator/organizations');

export function OrganizationsPage() {
  const { find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const goTo = useNavigate();
  const [creating, setCreating] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ['all-organizations', find],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations', {
        query: { page_size: '100', page_token: pageParam, ...(find === '' ? {} : { search: find }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const shown = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page
      title="Organizations"
      description={<RunningVersion />}
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          Create organization
        </Button>
      }
    >
      <div className="grid gap-3">
        <DebouncedInput
          type="search"
          aria-label="Search by name or ID"
          placeholder="Search by name or ID"
          className="sm:w-64"
          value={find}
          onCommit={(text) => void navigate({ search: text === '' ? {} : { find: text }, replace: true })}
        />
        {blockingErrorOf(query) ? (
          <Failure error={query.error} what="organizations" onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <SkeletonRows />
        ) : shown.length > 0 ? (
          <Table
            caption="Organizations"
            rows={shown}
            columns={COLUMNS}
            rowId={({ id }) => id}
            stale={query.isPlaceholderData}
          />
        ) : find !== '' ? (
          <Empty icon="search" title="No matches">
            Try a different search.
          </Empty>
        ) : (
          <Empty
            icon="building"
            title="No organizations yet"
            action={
              <Link to="/welcome" className="text-accent hover:underline">
                Start setup
              </Link>
            }
          >
            Organizations own keys, credit and limits.
          </Empty>
        )}
        <LoadMore of={query} />
      </div>
      <Dialog open={creating} onOpenChange={setCreating} title="Create organization">
        <CreateOrganizationForm
          onCreated={({ id }) => void goTo({ to: '/o/$organizationId', params: { organizationId: id } })}
        />
      </Dialog>
    </Page>
  );
}

const COLUMNS: readonly Column<Organization>[] = [
  {
    id: 'name',
    header: 'Name',
    accessorFn: ({ name }) => name.toLowerCase(),
    cell: ({ row: { original: one } }) => (
      <div className="min-w-40">
        <Link
          to="/o/$organizationId"
          params={{ organizationId: one.id }}
          className="font-medium hover:text-accent hover:underline"
        >
          <Text>{one.name}</Text>
        </Link>
        <p className="text-xs text-ink-faint">
          <Id>{one.id}</Id>
        </p>
      </div>
    ),
  },
  {
    id: 'state',
    header: 'Status',
    enableSorting: false,
    cell: ({ row: { original: one } }) =>
      one.suspended ? (
        <div className="grid justify-items-start gap-0.5">
          <Badge tone="bad">Suspended</Badge>
          {one.suspended_reason !== null && (
            <span className="text-xs text-ink-soft">
              <Text>{one.suspended_reason}</Text>
            </span>
          )}
        </div>
      ) : (
        <Badge tone="good">Active</Badge>
      ),
  },
  {
    id: 'rpm',
    header: 'RPM',
    accessorFn: ({ limits }) => limits.requests_per_minute ?? Number.MAX_SAFE_INTEGER,
    meta: { figures: true, hide: 'tablet' },
    cell: ({ row: { original: one } }) => cap(one.limits.requests_per_minute),
  },
  {
    id: 'tpm',
    header: 'TPM',
    accessorFn: ({ limits }) => limits.tokens_per_minute ?? Number.MAX_SAFE_INTEGER,
    meta: { figures: true, hide: 'tablet' },
    cell: ({ row: { original: one } }) => cap(one.limits.tokens_per_minute),
  },
  {
    id: 'budget',
    header: 'Daily budget',
    enableSorting: false,
    meta: { figures: true, hide: 'phone' },
    cell: ({ row: { original: one } }) =>
      one.limits.daily_budget_usd === null ? (
        cap(null)
      ) : (
        <Money usd={one.limits.daily_budget_usd} digits="all" />
      ),
  },
  {
    id: 'created',
    header: 'Created',
    accessorFn: ({ created_at: at }) => at,
    meta: { hide: 'phone' },
    cell: ({ row: { original: one } }) => <Time at={one.created_at} />,
  },
  {
    id: 'actions',
    header: () => <span className="sr-only">Actions</span>,
    enableSorting: false,
    meta: { className: 'text-right' },
    cell: ({ row: { original: one } }) => <OrganizationActions of={one} />,
  },
];

function cap(value: number | null) {
  return value === null ? <span className="text-ink-faint">No limit</span> : count(value);
}
