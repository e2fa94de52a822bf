import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { keysQuery, type Key } from '../../api/keys';
import { usePermission } from '../../api/session';
import { omitUndefined } from '../../app/search';
import { Button, buttonClass } from '../../ui/button';
import { Input, Select } from '../../ui/field';
import { FilterBar } from '../../ui/filters';
import { Icon } from '../../ui/icons';
import { Page } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table } from '../../ui/table';
import { keyColumns } from './key-columns';

const route = getRouteApi('/signed-in/o/$organizationId/keys');

export function KeysPage() {
  const { organizationId } = route.useParams();
  const { show = 'active', find = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const canManage = usePermission(organizationId)('keys:manage');
  const isPlayground = show === 'playground';
  const keys = useInfiniteQuery(keysQuery(organizationId, isPlayground ? 'playground' : 'standard'));
  const all = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  const anyState = isPlayground || show === 'all';
  const shown = all.filter((key) => (anyState || key.state === show) && matchesSearch(key, find));

  const create = canManage && (
    <Link to="/o/$organizationId/keys/new" params={{ organizationId }} className={buttonClass('primary')}>
      <Icon name="plus" />
      Create key
    </Link>
  );

  return (
    <Page
      title="Keys"
      description="Keys authenticate requests to the API. Spend is by UTC day and month."
      actions={create}
    >
      {keys.error ? (
        <Failure error={keys.error} what="keys" onRetry={() => void keys.refetch()} />
      ) : keys.isPending ? (
        <SkeletonRows />
      ) : all.length === 0 && !isPlayground ? (
        <Empty icon="key" title="No keys yet" action={create || undefined}>
          {canManage
            ? 'Create a key to send your first request.'
            : 'Contact an admin or owner to create a key.'}
        </Empty>
      ) : (
        <div className="grid gap-3">
          <FilterBar>
            <Input
              type="search"
              aria-label="Search by name or last four characters"
              placeholder="Search by name or last four"
              className="col-span-2 sm:w-64"
              value={find}
              onChange={({ target }) =>
                void navigate({
                  search: omitUndefined({ show: searchValue(show), find: target.value || undefined }),
                  replace: true,
                })
              }
            />
            <Select
              aria-label="Status"
              className="col-span-2 sm:w-44"
              value={show}
              onChange={({ target }) =>
                void navigate({
                  search: omitUndefined({ show: searchValue(target.value), find: find || undefined }),
                  replace: true,
                })
              }
            >
              <option value="active">Active</option>
              <option value="expired">Expired</option>
              <option value="revoked">Revoked</option>
              <option value="all">All</option>
              <option value="playground">Playground keys</option>
            </Select>
          </FilterBar>
          {shown.length > 0 ? (
            <Table
              caption="Keys"
              rows={shown}
              columns={keyColumns(organizationId)}
              rowId={({ id }) => id}
              rowClass={({ state }) => (state === 'active' ? undefined : 'text-ink-soft')}
            />
          ) : (
            <Empty icon="search" title="No matches">
              {isPlayground
                ? 'Using the playground creates a key that expires within minutes.'
                : show === 'all'
                  ? 'Try a different search.'
                  : `No ${show} keys match. Try a different search or status.`}
            </Empty>
          )}
          {keys.hasNextPage && (
            <Button
              className="justify-self-center"
              busy={keys.isFetchingNextPage}
              onClick={() => void keys.fetchNextPage()}
            >
              Load more
            </Button>
          )}
        </div>
      )}
    </Page>
  );
}

/** Omits the default from the URL. */
const searchValue = (show: string) => (show === 'active' ? undefined : show);

function matchesSearch({ name, last4 }: Key, find: string): boolean {
  return `${name} ${last4}`.toLowerCase().includes(find.trim().toLowerCase());
}
