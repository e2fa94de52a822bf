import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { keysQuery, type Key, type KeyFilters } from '../../api/keys';
import { useProjectNames } from '../../api/projects';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { omitUndefined } from '../../app/search';
import { counted } from '../../format/count';
import { Button, buttonClass } from '../../ui/button';
import { DebouncedInput } from '../../ui/debounced-input';
import { Select } from '../../ui/field';
import { FilterBar } from '../../ui/filters';
import { Icon } from '../../ui/icons';
import { LoadMore, ShownCount } from '../../ui/load-more';
import { Notice } from '../../ui/notice';
import { Page } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table } from '../../ui/table';
import { keyColumns, selectColumn } from './key-columns';
import { RevokeKeys } from './revoke-keys';
import { CsvLink } from '../../ui/csv-link';
import { api } from '../../api/client';

const route = getRouteApi('/signed-in/o/$organizationId/keys');

const STATES = ['active', 'expired', 'revoked'] as const;
const OWNERS = ['me', 'left'] as const;

export function KeysPage() {
  const { organizationId } = route.useParams();
  const { show = 'active', find = '', owner, project } = route.useSearch();
  const navigate = route.useNavigate();
  const can = usePermission(organizationId);
  const canCreate = can('keys:manage_own');
  const keys = useInfiniteQuery(keysQuery(organizationId, filtersOf(show, find, owner, project)));
  const shown = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  const projects = useProjectNames(organizationId, [project, ...shown.map(({ project_id: id }) => id)]);
  const [chosen, select] = useState<readonly Key[]>([]);
  const selected = chosen.filter(({ organization_id: id }) => id === organizationId);
  const toggle = (key: Key) =>
    select(
      selected.some(({ id }) => id === key.id)
        ? selected.filter(({ id }) => id !== key.id)
        : [...selected, key],
    );
  const search = (status: string, text: string, owned = owner, inProject = project) =>
    void navigate({
      search: omitUndefined({
        show: searchValue(status),
        find: text === '' ? undefined : text,
        owner: owned,
        project: inProject,
      }),
      replace: true,
    });

  const create = canCreate && (
    <Link to="/o/$organizationId/keys/new" params={{ organizationId }} className={buttonClass('primary')}>
      <Icon name="plus" />
      Create key
    </Link>
  );

  return (
    <Page
      title="Keys"
      description="Keys authenticate requests to the API. Spend is by UTC day and month."
      actions={
        <>
          <CsvLink
            href={api.url('GET /api/organizations/{organization_id}/keys.csv', {
              params: { organization_id: organizationId },
              query: filtersOf(show, find, owner, project),
            })}
          />
          {create}
        </>
      }
    >
      <div className="grid gap-3">
        <FilterBar>
          <DebouncedInput
            type="search"
            aria-label="Search by name, ID or last four characters"
            placeholder="Name, ID or last four characters"
            className="col-span-2 sm:w-64"
            value={find}
            onCommit={(text) => search(show, text)}
          />
          <Select
            aria-label="Status"
            className="col-span-2 sm:w-44"
            value={show}
            onChange={({ target }) => search(target.value, find)}
          >
            <option value="active">Active</option>
            <option value="expired">Expired</option>
            <option value="revoked">Revoked</option>
            <option value="all">All</option>
            <option value="playground">Playground keys</option>
          </Select>
          <Select
            aria-label="Owner"
            className="col-span-2 sm:w-44"
            value={owner ?? ''}
            onChange={({ target }) =>
              search(
                show,
                find,
                OWNERS.find((one) => one === target.value),
              )
            }
          >
            <option value="">Any owner</option>
            <option value="me">My keys</option>
            <option value="left">Owner has left</option>
          </Select>
          {(projects.size > 0 || project !== undefined) && (
            <Select
              aria-label="Project"
              className="col-span-2 sm:w-44"
              value={project ?? ''}
              onChange={({ target }) => search(show, find, owner, target.value || undefined)}
            >
              <option value="">All projects</option>
              {[...projects].map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </FilterBar>
        {selected.length > 0 && (
          <div className="flex flex-wrap items-center gap-2 text-sm" role="status">
            {counted(selected.length, 'key')} selected
            <RevokeKeys organizationId={organizationId} keys={selected} onDone={select} />
            <Button small kind="quiet" onClick={() => select([])}>
              Clear selection
            </Button>
          </div>
        )}
        {can('keys:manage') && owner !== 'left' && <KeysOfPeopleWhoLeft organizationId={organizationId} />}
        {blockingErrorOf(keys) ? (
          <Failure error={keys.error} what="keys" onRetry={() => void keys.refetch()} />
        ) : keys.isPending ? (
          <SkeletonRows />
        ) : shown.length > 0 ? (
          <Table
            caption="Keys"
            rows={shown}
            columns={[
              ...(can('keys:manage') ? [selectColumn(selected, toggle)] : []),
              ...keyColumns(organizationId, projects),
            ]}
            rowId={({ id }) => id}
            rowClass={({ state }) => (state === 'active' ? undefined : 'text-ink-soft')}
            stale={keys.isPlaceholderData}
            partial={keys.hasNextPage}
          />
        ) : find !== '' || owner !== undefined || project !== undefined ? (
          <Empty icon="search" title="No matches">
            {show === 'all' ? 'Try a different search.' : 'Try a different search, status, owner or project.'}
          </Empty>
        ) : show === 'playground' ? (
          <Empty icon="key" title="No playground keys">
            Using the playground creates a key that expires within minutes.
          </Empty>
        ) : (
          <Empty
            icon="key"
            title={show === 'all' ? 'No keys yet' : `No ${show} keys`}
            action={(show === 'active' || show === 'all') && create ? create : undefined}
          >
            {show === 'active' || show === 'all'
              ? canCreate
                ? 'Create a key to send requests.'
                : 'Contact an admin or owner to create a key.'
              : 'Choose another status to see other keys.'}
          </Empty>
        )}
        <ShownCount shown={shown.length} total={keys.data?.pages[0]?.total} />
        <LoadMore of={keys} />
      </div>
    </Page>
  );
}

/** Shown to people who can transfer or revoke the keys. */
function KeysOfPeopleWhoLeft({ organizationId }: { readonly organizationId: string }) {
  const left = useInfiniteQuery(keysQuery(organizationId, { state: 'active', owner: 'left' }));
  if (!left.data?.pages.some(({ data }) => data.length > 0)) return null;
  return (
    <Notice tone="warn" title="Keys of people who left">
      They still work.{' '}
      <Link
        to="/o/$organizationId/keys"
        params={{ organizationId }}
        search={{ owner: 'left' }}
        className="font-medium underline"
      >
        Transfer or revoke them
      </Link>
    </Notice>
  );
}

/** Omits the default from the URL. */
const searchValue = (show: string) => (show === 'active' ? undefined : show);

function filtersOf(
  show: string,
  find: string,
  owner: KeyFilters['owner'],
  project_id: string | undefined,
): KeyFilters {
  const search = find === '' ? undefined : find;
  if (show === 'playground') return omitUndefined({ kind: 'playground', search, owner, project_id });
  return omitUndefined({ state: STATES.find((state) => state === show), search, owner, project_id });
}
