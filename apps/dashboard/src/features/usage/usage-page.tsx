import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client';
import { useKeyNames } from '../../api/keys';
import { modelLabel } from '../../api/models';
import { organizationQuery } from '../../api/organizations';
import { useProjectNames } from '../../api/projects';
import { blockingErrorOf } from '../../api/transient-error';
import {
  DEFAULT_RANGE,
  MAX_DAYS,
  rangeOf,
  usageErrorsQuery,
  usageGroupsQuery,
  usageQuery,
  type GroupsQuery,
} from '../../api/usage';
import { useModelChoices, type UsedIn } from '../../api/used-models';
import { omitUndefined } from '../../app/search';
import { exactDay, exactTime } from '../../format/time';
import { minuteAt } from '../../format/time-range';
import { Field, Input, Select } from '../../ui/field';
import { FilterBar } from '../../ui/filters';
import { LoadMore, ShownCount } from '../../ui/load-more';
import { Page, Section } from '../../ui/page';
import { SegmentedControl } from '../../ui/segmented-control';
import { Empty, Failure, Skeleton } from '../../ui/states';
import { Table } from '../../ui/table';
import { KeySelect } from '../keys/key-select';
import { MAX_SERIES } from './chart-rows';
import { LazyUsageChart } from './lazy-usage-chart';
import { isLatency, RANGES, type Measure, type UsageSearch, type UsageSplit } from './search';
import { ProjectSelect, projectIdOf } from '../projects/project-select';
import { errorColumns } from './error-columns';
import { idOf, isByValue, noValueName, splitName, splitQuery } from './split';
import { ApiSelect } from '../generations/api-select';
import { usageColumns } from './usage-rows';
import { UsageTotals } from './usage-totals';
import { CsvLink } from '../../ui/csv-link';

const route = getRouteApi('/signed-in/o/$organizationId/usage');

const RANGE_NAMES = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  custom: 'Custom range',
};
const MEASURES: readonly { readonly value: Measure; readonly label: string }[] = [
  { value: 'spend', label: 'Spend' },
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'errors', label: 'Errors' },
  { value: 'refused', label: 'Refused' },
  { value: 'p50', label: 'p50 latency' },
  { value: 'p95', label: 'p95 latency' },
  { value: 'first_token', label: 'p50 time to first token' },
];

/** Usage by end user or tag cannot be filtered. */
const NO_FILTERS = { model: undefined, key: undefined, project: undefined, api: undefined };

export function UsagePage() {
  const { organizationId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const {
    range = DEFAULT_RANGE,
    from,
    to,
    measure: chosenMeasure = 'spend',
    split = 'model',
    model,
    key,
    project,
    api: apiType,
  } = isByValue(search.split ?? 'model') ? { ...search, ...NO_FILTERS } : search;
  const change = (changes: Partial<UsageSearch>) =>
    void navigate({ search: omitUndefined({ ...search, ...changes }), replace: true });

  const measures = isByValue(split) ? MEASURES.filter(({ value }) => !isLatency(value)) : MEASURES;
  const measure = measures.some(({ value }) => value === chosenMeasure) ? chosenMeasure : 'spend';
  const query = {
    ...rangeOf({ range, ...omitUndefined({ from, to }) }),
    ...omitUndefined({
      model_id: model,
      key_id: key,
      project_id: projectIdOf(project),
      api_type: apiType,
    }),
  };
  const generationFilters = {
    from: minuteAt(query.start),
    to: minuteAt(lastInstantOf(query)),
    ...omitUndefined({ model, key, project, api: apiType }),
  };
  const series = useQuery(
    usageQuery(organizationId, {
      ...query,
      ...splitQuery('split_by', split),
      top: String(MAX_SERIES),
      top_by: isLatency(measure) ? 'requests' : measure,
    }),
  );
  const [sorting, setSorting] = useState([{ id: 'spend', desc: true }]);
  const [order = { id: 'spend', desc: true }] = sorting;
  const groups = useInfiniteQuery(
    usageGroupsQuery(organizationId, {
      ...query,
      ...splitQuery('group_by', split),
      sort: order.id as GroupsQuery['sort'],
      order: order.desc ? 'desc' : 'asc',
    }),
  );
  const { granularity: _granularity, ...filters } = query;
  const errors = useQuery(usageErrorsQuery(organizationId, filters));
  const rows = groups.data?.pages.flatMap(({ data }) => data) ?? [];
  const total = groups.data?.pages[0]?.total ?? 0;
  const charted = series.data?.data.flatMap((point) => idOf(point, split) ?? []) ?? [];
  const ids = [...charted, ...rows.map(({ id }) => id)];
  const keyNames = useKeyNames(organizationId, [key, ...(split === 'key' ? ids : [])]);
  const projectNames = useProjectNames(organizationId, [
    projectIdOf(project),
    ...(split === 'project' ? ids : []),
  ]);
  const hasProjects = projectNames.size > 0;
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const offered = [
    ...(['model', 'key'] as const),
    ...(hasProjects ? (['project'] as const) : []),
    'user' as const,
    ...(organization?.usage_tags ?? []).map((name) => `tag:${name}` as const),
  ];
  const splits = [...new Set<UsageSplit>([...offered, split])].map((value) => ({
    value,
    label: `By ${splitName(value)}`,
  }));
  const nameOf = (id: string) => {
    if (isByValue(split)) return id === '' ? noValueName(split) : id;
    if (split === 'project') return id === '' ? 'No project' : (projectNames.get(id) ?? id);
    return split === 'key' ? (keyNames.get(id) ?? id) : modelLabel(id);
  };

  return (
    <Page
      title="Usage"
      description={period(query)}
      actions={
        <CsvLink
          href={api.url('GET /api/organizations/{organization_id}/usage.csv', {
            params: { organization_id: organizationId },
            query: { ...query, ...splitQuery('split_by', split) },
          })}
        />
      }
    >
      <Filters
        organizationId={organizationId}
        period={query}
        search={search}
        onChange={change}
        keyNames={keyNames}
        projectNames={projectNames}
      />
      {blockingErrorOf(series) ? (
        <Failure error={series.error} what="usage" onRetry={() => void series.refetch()} />
      ) : !series.data ? (
        <>
          <Skeleton className="h-20" />
          <Skeleton className="h-56" />
        </>
      ) : series.data.totals.requests + series.data.totals.refused === 0 ? (
        <Empty icon="chart" title="No requests in this period">
          Choose a longer period or clear filters. Requests appear here within seconds.
        </Empty>
      ) : (
        <>
          <UsageTotals totals={series.data.totals} />
          <Section
            title={
              <SegmentedControl
                label="Metric"
                options={measures}
                value={measure}
                onChange={(value) => change({ measure: value === 'spend' ? undefined : value })}
              />
            }
            actions={
              <SegmentedControl
                label="Group by"
                options={splits}
                value={split}
                onChange={(value) =>
                  change({
                    split: value === 'model' ? undefined : value,
                    ...(isByValue(value) ? NO_FILTERS : {}),
                  })
                }
              />
            }
          >
            <LazyUsageChart series={series.data} measure={measure} split={split} nameOf={nameOf} />
          </Section>
          {blockingErrorOf(groups) ? (
            <Failure error={groups.error} what="usage" onRetry={() => void groups.refetch()} />
          ) : (
            <div className="grid gap-3">
              <Table
                caption={`Usage by ${splitName(split)}`}
                rows={rows}
                columns={usageColumns({
                  split,
                  nameOf,
                  organizationId,
                  filters: generationFilters,
                  totals: series.data.totals,
                })}
                rowId={({ id, other_values: areOthers }) => (areOthers ? 'others' : `id ${id}`)}
                stale={groups.isPlaceholderData}
                sorted={{ by: sorting, onChange: setSorting }}
              />
              <ShownCount shown={rows.length} total={total} />
              <LoadMore of={groups} />
            </div>
          )}
          {blockingErrorOf(errors) ? (
            <Failure error={errors.error} what="errors by code" onRetry={() => void errors.refetch()} />
          ) : null}
          {errors.data && errors.data.length > 0 && (
            <Section
              title="Errors by code"
              description="Refused requests have no generation and are not charged. They are not included in requests and errors."
            >
              <Table
                caption="Errors by code"
                rows={errors.data}
                columns={errorColumns(organizationId, generationFilters)}
                rowId={({ code }) => code}
                stale={errors.isPlaceholderData}
              />
            </Section>
          )}
        </>
      )}
    </Page>
  );
}

/** "16 Nov 2026 – 22 Nov 2026 (UTC), by day". The end is the last day shown. */
function period({ start, end, granularity }: ReturnType<typeof rangeOf>): string {
  if (granularity === 'hour') return `${exactTime(start)} – ${exactTime(end)}, by hour`;
  return `${exactDay(start)} – ${exactDay(lastInstantOf({ end }))} (UTC), by day`;
}

const lastInstantOf = ({ end }: { readonly end: string }) => new Date(Date.parse(end) - 1).toISOString();

interface FiltersProps {
  readonly organizationId: string;
  readonly period: UsedIn;
  readonly search: UsageSearch;
  readonly onChange: (changes: Partial<UsageSearch>) => void;
  readonly keyNames: ReadonlyMap<string, string>;
  readonly projectNames: ReadonlyMap<string, string>;
}

function Filters({ organizationId, period, search, onChange, keyNames, projectNames }: FiltersProps) {
  const { range = DEFAULT_RANGE } = search;
  const models = useModelChoices(organizationId, period, search.model);
  return (
    <FilterBar inUse={filtersInUse(search)}>
      <Field label="Period">
        <Select
          className="sm:w-44"
          value={range}
          onChange={({ target }) =>
            onChange({
              range: target.value === DEFAULT_RANGE ? undefined : (target.value as UsageSearch['range']),
              ...(target.value === 'custom' ? startOfCustom() : { from: undefined, to: undefined }),
            })
          }
        >
          {RANGES.map((one) => (
            <option key={one} value={one}>
              {RANGE_NAMES[one]}
            </option>
          ))}
        </Select>
      </Field>
      {range === 'custom' && (
        <>
          <Field label="From">
            <Input
              type="date"
              value={search.from ?? ''}
              onChange={({ target }) => onChange({ from: target.value || undefined })}
            />
          </Field>
          <Field label="To">
            <Input
              type="date"
              value={search.to ?? ''}
              onChange={({ target }) => onChange({ to: target.value || undefined })}
            />
          </Field>
        </>
      )}
      {!isByValue(search.split ?? 'model') && (
        <>
          <Field label="Model">
            <Select
              className="sm:w-52"
              value={search.model ?? ''}
              onChange={({ target }) => onChange({ model: target.value || undefined })}
            >
              <option value="">All models</option>
              {models.map((id) => (
                <option key={id}>{id}</option>
              ))}
            </Select>
          </Field>
          <Field label="Key">
            <KeySelect
              organizationId={organizationId}
              className="sm:w-52"
              emptyLabel="All keys"
              keyNames={keyNames}
              value={search.key}
              onChange={(key) => onChange({ key })}
            />
          </Field>
          <ProjectSelect
            className="sm:w-52"
            names={projectNames}
            value={search.project}
            onChange={(project) => onChange({ project })}
          />
          <ApiSelect
            className="sm:w-44"
            value={search.api}
            onChange={(chosen) => onChange({ api: chosen })}
          />
        </>
      )}
      {range === 'custom' && noteOf(search) !== undefined && (
        <p role="alert" className="col-span-2 text-xs font-medium text-bad sm:basis-full">
          {noteOf(search)}
        </p>
      )}
    </FilterBar>
  );
}

const filtersInUse = ({ range, model, key, project, api: apiType }: UsageSearch) =>
  [range, model, key, project, apiType].filter((value) => value !== undefined).length;

/** Why a custom range differs from its fields. */
function noteOf({ from, to }: UsageSearch): string | undefined {
  if (from === undefined) return 'Choose “From”; until then the last 30 days are shown.';
  if (to === undefined) return undefined;
  if (from > to) return '“From” is after “To”, so the last 30 days are shown.';
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return days > MAX_DAYS ? `At most ${MAX_DAYS} days are shown: the last ones until “To”.` : undefined;
}

const DAY_MS = 86_400_000;

function startOfCustom() {
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  return { from: day(13), to: day(0) };
}
