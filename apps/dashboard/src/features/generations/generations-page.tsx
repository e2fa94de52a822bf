import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  generationsQuery,
  refusedRequestsQuery,
  type GenerationFilters,
  type RefusedFilters,
} from '../../api/generations';
import { useKeyNames } from '../../api/keys';
import { useProjectNames } from '../../api/projects';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { useModelChoices } from '../../api/used-models';
import { omitUndefined } from '../../app/search';
import { exactTime } from '../../format/time';
import { rangeEnd, rangeStart } from '../../format/time-range';
import { Button, buttonClass } from '../../ui/button';
import { DebouncedInput } from '../../ui/debounced-input';
import { Field, Select } from '../../ui/field';
import { FilterBar } from '../../ui/filters';
import { Page, Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table } from '../../ui/table';
import { TimeField } from '../../ui/time-field';
import { KeySelect } from '../keys/key-select';
import { ProjectSelect, projectIdOf } from '../projects/project-select';
import { ApiSelect } from './api-select';
import { generationColumns } from './generation-columns';
import { RefusedRequests } from './refused-requests';
import type { GenerationSearch } from './search';
import { CsvLink } from '../../ui/csv-link';
import { api } from '../../api/client';

const route = getRouteApi('/signed-in/o/$organizationId/generations');

export function GenerationsPage() {
  const { organizationId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const can = usePermission(organizationId);
  const listsRefused = search.status === REFUSED;
  const generations = useInfiniteQuery({
    ...generationsQuery(organizationId, filtersOf(search)),
    enabled: !listsRefused,
  });
  // A search finds refused requests, too.
  const refused = useQuery({
    ...refusedRequestsQuery(organizationId, refusedFiltersOf(search)),
    enabled: listsRefused || search.find !== undefined,
  });
  const refusedFound = search.find === undefined ? undefined : refused.data;
  const rows = generations.data?.pages.flatMap(({ data }) => data) ?? [];
  const keyNames = useKeyNames(organizationId, [
    search.key,
    ...[...rows, ...(refused.data ?? [])].map(({ key_id: id }) => id),
  ]);
  const searchedUntil = generations.data?.pages.at(-1)?.searched_until;
  const filtered = Object.keys(search).length > 0;
  const change = (changes: Partial<GenerationSearch>) =>
    void navigate({ search: (before) => omitUndefined({ ...before, ...changes }), replace: true });

  return (
    <Page
      title="Generations"
      description={
        listsRefused
          ? 'Requests that ended with an error and have no generation: the latest 20 of each error.'
          : 'Settled requests, newest first.'
      }
      actions={
        <CsvLink
          href={
            listsRefused
              ? api.url('GET /api/organizations/{organization_id}/refused-requests.csv', {
                  params: { organization_id: organizationId },
                  query: refusedFiltersOf(search),
                })
              : api.url('GET /api/organizations/{organization_id}/generations.csv', {
                  params: { organization_id: organizationId },
                  query: filtersOf(search),
                })
          }
        />
      }
    >
      <Filters organizationId={organizationId} search={search} onChange={change} keyNames={keyNames} />
      {!listsRefused && refusedFound && refusedFound.length > 0 && (
        <Section title="Refused request">
          <RefusedRequests
            organizationId={organizationId}
            rows={refusedFound}
            keyNames={keyNames}
            stale={refused.isPlaceholderData}
          />
        </Section>
      )}
      {listsRefused ? (
        blockingErrorOf(refused) ? (
          <Failure error={refused.error} what="refused requests" onRetry={() => void refused.refetch()} />
        ) : !refused.data ? (
          <SkeletonRows rows={8} />
        ) : refused.data.length === 0 ? (
          <Empty icon="search" title="No refused requests">
            Refused requests appear here within seconds. Usage counts all of them.
          </Empty>
        ) : (
          <RefusedRequests
            organizationId={organizationId}
            rows={refused.data}
            keyNames={keyNames}
            stale={refused.isPlaceholderData}
          />
        )
      ) : blockingErrorOf(generations) ? (
        <Failure error={generations.error} what="generations" onRetry={() => void generations.refetch()} />
      ) : generations.isPending ? (
        <SkeletonRows rows={8} />
      ) : (
        <div className="grid gap-3">
          {rows.length > 0 ? (
            <Table
              caption="Generations"
              rows={rows}
              columns={generationColumns({ organizationId, keyNames })}
              rowId={({ id }) => id}
              stale={generations.isPlaceholderData}
            />
          ) : generations.hasNextPage || (refusedFound && refusedFound.length > 0) ? null : (
            <Empty
              icon={filtered ? 'search' : 'list'}
              title={filtered ? 'No matches' : 'No requests yet'}
              action={
                filtered ? (
                  <Button onClick={() => void navigate({ search: {}, replace: true })}>Clear filters</Button>
                ) : (
                  can('playground:use') && (
                    <Link
                      to="/o/$organizationId/playground"
                      params={{ organizationId }}
                      className={buttonClass('secondary')}
                    >
                      Open playground
                    </Link>
                  )
                )
              }
            >
              {filtered
                ? 'Change or clear the filters. IDs must be complete. Of refused requests, the latest 20 of each error are found.'
                : 'Requests appear here within seconds.'}
            </Empty>
          )}
          {generations.hasNextPage && (
            <div className="grid justify-items-center gap-1">
              {searchedUntil && (
                <p className="text-xs text-ink-faint">Searched back to {exactTime(searchedUntil)}.</p>
              )}
              <Button busy={generations.isFetchingNextPage} onClick={() => void generations.fetchNextPage()}>
                {rows.length > 0 ? 'Load more' : 'Search further back'}
              </Button>
            </div>
          )}
        </div>
      )}
    </Page>
  );
}

/** The status of the filter that lists requests without a generation. */
const REFUSED = 'refused';

export function refusedFiltersOf({
  find,
  key,
  model,
  error,
  api: apiType,
}: GenerationSearch): RefusedFilters {
  return omitUndefined({ request_id: find, key_id: key, model, error_code: error, api_type: apiType });
}

export function filtersOf(search: GenerationSearch): GenerationFilters {
  return omitUndefined({
    search: search.find,
    since: rangeStart(search.from),
    until: rangeEnd(search.to),
    model_id: search.model,
    key_id: search.key,
    external_user: search.user,
    tag: TAG.test(search.tag ?? '') ? search.tag : undefined,
    status: (['completed', 'cancelled', 'failed'] as const).find((one) => one === search.status),
    error_code: search.error,
    project_id: projectIdOf(search.project),
    api_type: search.api,
    min_cost_usd: parseAmount(search.min_cost),
    max_cost_usd: parseAmount(search.max_cost),
  });
}

/** As the API accepts it; a filter that is not complete does not apply. */
const TAG = /^[A-Za-z0-9_.-]{1,64}:.{1,256}$/su;

const parseAmount = (text: string | undefined) =>
  /^\d{1,9}(\.\d{1,9})?$/.test(text ?? '') ? text : undefined;

interface FiltersProps {
  readonly organizationId: string;
  readonly search: GenerationSearch;
  readonly onChange: (changes: Partial<GenerationSearch>) => void;
  readonly keyNames: ReadonlyMap<string, string>;
}

function Filters({ organizationId, search, onChange, keyNames }: FiltersProps) {
  const models = useModelChoices(
    organizationId,
    { start: rangeStart(search.from), end: rangeEnd(search.to) },
    search.model,
  );
  const projectNames = useProjectNames(organizationId, [projectIdOf(search.project)]);
  // Only the latest refused requests are stored, and these filters do not apply to them.
  const listsRefused = search.status === REFUSED;
  const text = (name: keyof GenerationSearch) => ({
    value: search[name] ?? '',
    onCommit: (value: string) => onChange({ [name]: value || undefined }),
  });
  return (
    <div className="grid gap-3">
      <DebouncedInput
        type="search"
        aria-label="Search by ID"
        placeholder="Generation, request or end-user ID"
        {...text('find')}
      />
      <FilterBar inUse={Object.keys(search).filter((name) => name !== 'find').length}>
        {!listsRefused && (
          <>
            <TimeField label="From" end="start" value={search.from} onChange={(from) => onChange({ from })} />
            <TimeField label="To" end="end" value={search.to} onChange={(to) => onChange({ to })} />
          </>
        )}
        <Field label="Model">
          <Select
            className="sm:w-38"
            value={search.model ?? ''}
            onChange={({ target }) => onChange({ model: target.value || undefined })}
          >
            <option value="">All</option>
            {models.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </Select>
        </Field>
        <Field label="Key">
          <KeySelect
            organizationId={organizationId}
            className="sm:w-38"
            emptyLabel="All"
            keyNames={keyNames}
            value={search.key}
            onChange={(key) => onChange({ key })}
          />
        </Field>
        <ApiSelect className="sm:w-38" value={search.api} onChange={(chosen) => onChange({ api: chosen })} />
        <Field label="Status">
          <Select
            className="sm:w-30"
            value={search.status ?? ''}
            onChange={({ target }) => onChange({ status: target.value || undefined })}
          >
            <option value="">All</option>
            <option value="completed">Completed</option>
            <option value="cancelled">Cancelled</option>
            <option value="failed">Failed</option>
            <option value={REFUSED}>Refused</option>
          </Select>
        </Field>
        <Field label="Error code">
          <DebouncedInput className="sm:w-44" {...text('error')} />
        </Field>
        {!listsRefused && (
          <>
            <ProjectSelect
              className="sm:w-38"
              names={projectNames}
              value={search.project}
              onChange={(project) => onChange({ project })}
            />
            <Field label="End user">
              <DebouncedInput className="sm:w-34" {...text('user')} />
            </Field>
            <Field label="Tag">
              <DebouncedInput placeholder="name:value" className="sm:w-38" {...text('tag')} />
            </Field>
            <Field label="Min cost (USD)">
              <DebouncedInput
                inputMode="decimal"
                placeholder="0.00"
                className="sm:w-24"
                {...text('min_cost')}
              />
            </Field>
            <Field label="Max cost (USD)">
              <DebouncedInput
                inputMode="decimal"
                placeholder="1.00"
                className="sm:w-24"
                {...text('max_cost')}
              />
            </Field>
          </>
        )}
      </FilterBar>
    </div>
  );
}
