import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { keysQuery, type Key } from '../../api/keys';
import { useMay } from '../../api/session';
import { present } from '../../app/search';
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
  const mayManage = useMay(organizationId)('keys:manage');
  const ofPlayground = show === 'playground';
  const keys = useInfiniteQuery(keysQuery(organizationId, ofPlayground ? 'playground' : 'standard'));
  const all = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  const ofAnyState = ofPlayground || show === 'all';
  const shown = all.filter((key) => (ofAnyState || key.state === show) && isNamed(key, find));

  const create = mayManage && (
    <Link to="/o/$organizationId/keys/new" params={{ organizationId }} className={buttonClass('primary')}>
      <Icon name="plus" />
      Create a key
    </Link>
  );

  return (
    <Page
      title="Keys"
      description="What programs call the API with. Days and months of spend are those of UTC."
      actions={create}
    >
      {keys.error ? (
        <Failure error={keys.error} what="the keys" onRetry={() => void keys.refetch()} />
      ) : keys.isPending ? (
        <SkeletonRows />
      ) : all.length === 0 && !ofPlayground ? (
        <Empty icon="key" title="No key yet" action={create || undefined}>
          {mayManage
            ? 'A program needs a key to call the API. Create one, and its first request is a paste away.'
            : 'Ask an admin or owner of this organization to create one.'}
        </Empty>
      ) : (
        <div className="grid gap-3">
          <FilterBar>
            <Input
              type="search"
              aria-label="Find by name or last four characters"
              placeholder="Find by name or last four"
              className="col-span-2 sm:w-64"
              value={find}
              onChange={({ target }) =>
                void navigate({
                  search: present({ show: inAddress(show), find: target.value || undefined }),
                  replace: true,
                })
              }
            />
            <Select
              aria-label="State"
              className="col-span-2 sm:w-44"
              value={show}
              onChange={({ target }) =>
                void navigate({
                  search: present({ show: inAddress(target.value), find: find || undefined }),
                  replace: true,
                })
              }
            >
              <option value="active">Active</option>
              <option value="expired">Expired</option>
              <option value="revoked">Revoked</option>
              <option value="all">All</option>
              <option value="playground">Of the playground</option>
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
            <Empty icon="search" title="No key is like that">
              {ofPlayground
                ? 'The playground makes one when somebody asks a model there. It ends within minutes.'
                : show === 'all'
                  ? 'Change what you look for.'
                  : `None of the ${show} keys. Look at all of them, or change what you look for.`}
            </Empty>
          )}
          {keys.hasNextPage && (
            <Button
              className="justify-self-center"
              busy={keys.isFetchingNextPage}
              onClick={() => void keys.fetchNextPage()}
            >
              Older keys
            </Button>
          )}
        </div>
      )}
    </Page>
  );
}

/** What is shown when nothing is said needs not stand in the address. */
const inAddress = (show: string) => (show === 'active' ? undefined : show);

function isNamed({ name, last4 }: Key, find: string): boolean {
  return `${name} ${last4}`.toLowerCase().includes(find.trim().toLowerCase());
}
