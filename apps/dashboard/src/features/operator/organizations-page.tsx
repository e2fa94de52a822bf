import type { Result } from '@gateway/dashboard-contract/client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { errorRate } from '../../format/count';
import { nanoUsdOf } from '../../format/money';
import { Button } from '../../ui/button';
import { omitUndefined } from '../../app/search';
import { DebouncedInput } from '../../ui/debounced-input';
import { Dialog } from '../../ui/dialog';
import { Select } from '../../ui/field';
import { LoadMore } from '../../ui/load-more';
import { Badge } from '../../ui/notice';
import { Page } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money, Text, Time, TimeOrNever } from '../../ui/values';
import { CreateOrganizationForm } from './create-organization-form';
import { Margin, marginNote } from './margin';
import { OrganizationActions } from './organization-actions';
import { PlatformFigures } from './platform-figures';
import { RunningVersion } from './running-version';

type Organization = Result<'GET /api/operator/organizations'>['data'][number];

const STATES = ['active', 'suspended'] as const;
/** In US dollars. */
const BALANCES = ['1', '10', '100'] as const;

const route = getRouteApi('/signed-in/operator/organizations');

export function OrganizationsPage() {
  const search = route.useSearch();
  const { find = '', state, below } = search;
  const navigate = route.useNavigate();
  const goTo = useNavigate();
  const [creating, setCreating] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ['all-organizations', find, state, below],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/operator/organizations', {
        query: {
          page_size: '100',
          page_token: pageParam,
          ...omitUndefined({ search: search.find, state, balance_below_usd: below }),
        },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const change = (changes: { [Name in keyof typeof search]?: (typeof search)[Name] | undefined }) =>
    void navigate({ search: omitUndefined({ ...search, ...changes }), replace: true });
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
      <PlatformFigures />
      <div className="grid gap-3">
        <div className="flex flex-wrap gap-2">
          <DebouncedInput
            type="search"
            aria-label="Search by name or ID"
            placeholder="Search by name or ID"
            className="sm:w-64"
            value={find}
            onCommit={(text) => change({ find: text || undefined })}
          />
          <Select
            aria-label="Status"
            className="!w-40"
            value={state ?? ''}
            onChange={({ target }) => change({ state: STATES.find((one) => one === target.value) })}
          >
            <option value="">Any status</option>
            <option value="active">Active</option>
            <option value="suspended">Suspended</option>
          </Select>
          <Select
            aria-label="Balance"
            className="!w-40"
            value={below ?? ''}
            onChange={({ target }) => change({ below: BALANCES.find((one) => one === target.value) })}
          >
            <option value="">Any balance</option>
            {BALANCES.map((one) => (
              <option key={one} value={one}>{`Below $${one}`}</option>
            ))}
          </Select>
        </div>
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
        ) : find !== '' || state !== undefined || below !== undefined ? (
          <Empty icon="search" title="No matches">
            Try a different search, status or balance.
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
        {query.hasNextPage && (
          <p className="justify-self-center text-xs text-ink-faint">
            {shown.length} organizations are loaded. Sorting applies to these.
          </p>
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
      <div className="sm:min-w-40">
        <Link
          to="/o/$organizationId"
          params={{ organizationId: one.id }}
          className="font-medium hover:text-accent hover:underline"
        >
          <Text>{one.name}</Text>
        </Link>
        <p className="text-xs text-ink-faint @max-2xl:hidden">
          <Id className="break-all">{one.id}</Id>
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
    id: 'balance',
    header: 'Balance',
    accessorFn: ({ balance_usd: balance }) => sortableUsd(balance),
    meta: { figures: true, digits: 'cents', usd: ({ balance_usd: balance }) => balance ?? undefined },
    cell: ({ row: { original: one } }) =>
      one.balance_usd === null ? <Unknown /> : <Money usd={one.balance_usd} />,
  },
  {
    id: 'spend',
    header: 'Spend, 30 days',
    accessorFn: ({ usage }) => sortableUsd(usage?.last_30_days.spend_usd),
    meta: { figures: true, hide: 'phone', usd: ({ usage }) => usage?.last_30_days.spend_usd },
    cell: ({ row: { original: one } }) =>
      one.usage ? <Money usd={one.usage.last_30_days.spend_usd} /> : <Unknown />,
  },
  {
    id: 'margin',
    header: 'Margin',
    accessorFn: ({ usage }) => sortableUsd(usage?.margin?.margin_usd),
    meta: { figures: true, hide: 'tablet' },
    cell: ({ row: { original: one } }) =>
      one.usage?.margin ? (
        <>
          <Margin of={one.usage.margin} />
          <p className="text-xs text-ink-faint">
            {marginNote(one.usage.margin, one.usage.last_30_days.spend_usd)}
          </p>
        </>
      ) : (
        <Unknown />
      ),
  },
  {
    id: 'errors',
    header: 'Error rate',
    accessorFn: ({ usage }) =>
      usage && usage.last_30_days.requests > 0 ? usage.last_30_days.errors / usage.last_30_days.requests : -1,
    meta: { figures: true, hide: 'tablet' },
    cell: ({ row: { original: one } }) => (one.usage && errorRate(one.usage.last_30_days)) ?? <Unknown />,
  },
  {
    id: 'used',
    header: 'Last active',
    accessorFn: ({ usage }) => usage?.last_used_at ?? '',
    meta: { hide: 'phone' },
    cell: ({ row: { original: one } }) =>
      one.usage === null ? <Unknown /> : <TimeOrNever at={one.usage.last_used_at} />,
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

const Unknown = () => <span className="text-ink-faint">—</span>;

/** Unavailable amounts are sorted as the lowest. */
function sortableUsd(usd: string | null | undefined): number {
  return usd === null || usd === undefined ? Number.NEGATIVE_INFINITY : Number(nanoUsdOf(usd));
}
