import { implement, pageView, timeIn, timeOrNull, usd } from '@gateway/admin-calls';
import type { Implementation } from '@gateway/admin-calls';
import {
  HOUR_MS,
  nanoUsd,
  storableText,
  type ApiType,
  type Clock,
  type NanoUsd,
  type Tag,
  type UnixMs,
} from '@gateway/base';
import { endpoints, parts } from '@gateway/dashboard-contract';
import { isRefusal, refusalError, refuse } from '@gateway/errors';
import { listGenerations } from '../../core/list-generations';
import type { UsageReader } from '../../core/ports';
import { listGroups, reportSeries, type SeriesDimension } from '../../core/usage-series';
import type { ValueDimension } from '../../core/usage-values';
import {
  foundGenerationView,
  foundRefusalView,
  generationDetailView,
  generationSummaryView,
  refusedRequestView,
} from './generation-views';
import {
  errorCountView,
  groupView,
  keyActivityView,
  modelUseView,
  organizationUsageView,
  platformUsageView,
  reconciliationView,
  seriesView,
  summaryView,
} from './usage-views';

/** The most refused requests of a list. */
const MAX_REFUSED = 200;

/** The most generations, and the most refused requests, with one id. */
const MAX_FOUND = 10;

const SPLITS: Readonly<Record<string, readonly SeriesDimension[]>> = {
  none: [],
  model: ['model'],
  key: ['api_key'],
  'model,key': ['model', 'api_key'],
  project: ['project'],
  user: ['user'],
};

const GROUPS = { model: 'model', key: 'api_key', project: 'project', user: 'user' } as const;

/** The endpoints of usage. All but those for operators are limited to one organization. */
export function createUsageEndpoints(reader: UsageReader, clock: Clock): readonly Implementation[] {
  return [
    implement(endpoints.usage.series, async ({ params, query }) => {
      const series = await reportSeries(reader, {
        ...filterOf(params.organization_id, query),
        start: timeIn('start', query.start),
        end: timeIn('end', query.end),
        granularity: query.granularity,
        splitBy: new Set(query.split_by === 'tag' ? [tagDimensionOf(query)] : SPLITS[query.split_by]),
        top: query.top === undefined ? undefined : { groups: Number(query.top), sortBy: query.top_by },
      });
      if (isRefusal(series)) throw refusalError(series);
      return seriesView(series, query.granularity);
    }),

    implement(endpoints.usage.groups, async ({ params, query }) => {
      if (!/^\d{0,9}$/.test(query.page_token))
        throw refusalError(
          refuse('invalid_request', { param: 'page_token', message: 'Unknown page_token.' }),
        );
      const offset = Number(query.page_token);
      const found = await listGroups(
        reader,
        {
          ...filterOf(params.organization_id, query),
          start: timeIn('start', query.start),
          end: timeIn('end', query.end),
          granularity: query.granularity,
          dimension: query.group_by === 'tag' ? tagDimensionOf(query) : GROUPS[query.group_by],
          sortBy: query.sort,
          descending: query.order === 'desc',
        },
        offset,
        query.page_size,
      );
      if (isRefusal(found)) throw refusalError(found);
      const next = offset + found.groups.length;
      return {
        ...pageView(found.groups.map(groupView), next < found.total ? String(next) : ''),
        total: found.total,
      };
    }),

    implement(endpoints.usage.errors, async ({ params, query }) => {
      const errors = await reader.countErrors({
        ...filterOf(params.organization_id, query),
        start: (Math.floor(timeIn('start', query.start) / HOUR_MS) * HOUR_MS) as UnixMs,
        end: (Math.ceil(timeIn('end', query.end) / HOUR_MS) * HOUR_MS) as UnixMs,
      });
      return { data: errors.map(errorCountView) };
    }),

    implement(endpoints.usage.summary, async ({ params }) =>
      summaryView(await reader.readSummary(params.organization_id, clock.now())),
    ),

    implement(endpoints.operator.platformUsage, async () =>
      platformUsageView(await reader.readPlatformUsage(clock.now())),
    ),

    implement(endpoints.generations.list, async ({ params, query }) => {
      const page = await listGenerations(reader, {
        organizationId: params.organization_id,
        search: storableText(query.search),
        since: query.since === undefined ? undefined : timeIn('since', query.since),
        until: query.until === undefined ? undefined : timeIn('until', query.until),
        modelId: storableText(query.model_id),
        keyId: storableText(query.key_id),
        externalUser: storableText(query.external_user),
        tag: tagOf(query.tag),
        apiType: query.api_type,
        status: query.status,
        errorCode: storableText(query.error_code),
        projectId: storableText(query.project_id),
        minCostNanoUsd: amountOf(query.min_cost_usd),
        maxCostNanoUsd: amountOf(query.max_cost_usd),
        pageSize: query.page_size,
        pageToken: query.page_token,
      });
      if (isRefusal(page)) throw refusalError(page);
      return {
        ...pageView(page.generations.map(generationSummaryView), page.nextPageToken),
        searched_until: timeOrNull(page.searchedUntil),
      };
    }),

    implement(endpoints.generations.refused, async ({ params, query }) => {
      const filter = {
        organizationId: params.organization_id,
        requestId: storableText(query.request_id),
        keyId: storableText(query.key_id),
        model: storableText(query.model),
        errorCode: storableText(query.error_code),
        apiType: query.api_type,
      };
      return { data: (await reader.listRefused(filter, MAX_REFUSED)).map(refusedRequestView) };
    }),

    implement(parts.generation, async ({ params, isOperator }) => {
      const { organization_id: organizationId, generation_id: id } = params;
      // PostgreSQL text cannot contain NUL, so there is no such id.
      const found = id.includes('\0') ? undefined : await reader.findGeneration(organizationId, id);
      return { generation: found ? generationDetailView(found, { showsTargets: isOperator }) : null };
    }),

    implement(parts.foundRequests, async ({ query }) => {
      const id = storableText(query.id);
      const [generations, refused] = await Promise.all([
        reader.findGenerationsAnywhere(id, MAX_FOUND),
        reader.findRefusedAnywhere(id, MAX_FOUND),
      ]);
      return { data: [...generations.map(foundGenerationView), ...refused.map(foundRefusalView)] };
    }),

    implement(parts.usageNow, async ({ params }) => {
      const now = await reader.readNow(params.organization_id, clock.now());
      return {
        spend_today_usd: usd(now.chargedNanoUsd),
        requests_today: Number(now.requests),
        latest_generation_id: now.latestGenerationId ?? null,
      };
    }),

    implement(parts.keyActivity, async ({ params, query }) => {
      const keys = await reader.readKeyActivity(params.organization_id, query.key_ids, clock.now());
      return { data: keys.map(keyActivityView) };
    }),

    implement(parts.organizationUsage, async ({ query }) => {
      const organizations = await reader.readOrganizationUsage(query.organization_ids, clock.now());
      return { data: organizations.map(organizationUsageView) };
    }),

    implement(parts.modelUse, async ({ query }) => ({
      data: (await reader.readModelUse(query.model_ids, clock.now())).map(modelUseView),
    })),

    implement(parts.usageReconciliation, async () => reconciliationView(await reader.readReconciliation())),
  ];
}

function tagDimensionOf({ tag }: { readonly tag?: string | undefined }): ValueDimension {
  if (tag !== undefined) return `tag:${tag}`;
  throw refusalError(refuse('invalid_request', { param: 'tag', message: 'tag must name a usage tag.' }));
}

/** @param text - such as team:blue. */
function tagOf(text: string | undefined): Tag | undefined {
  const end = text?.indexOf(':') ?? -1;
  return text === undefined || end === -1
    ? undefined
    : { name: text.slice(0, end), value: storableText(text.slice(end + 1)) };
}

interface FilterQuery {
  readonly model_id?: string | undefined;
  readonly key_id?: string | undefined;
  readonly project_id?: string | undefined;
  readonly api_type?: ApiType | undefined;
}

function filterOf(organizationId: string, query: FilterQuery) {
  return {
    organizationId,
    modelId: storableText(query.model_id),
    keyId: storableText(query.key_id),
    projectId: storableText(query.project_id),
    apiType: query.api_type,
  };
}

function amountOf(amountNanoUsd: bigint | undefined): NanoUsd | undefined {
  return amountNanoUsd === undefined ? undefined : nanoUsd(amountNanoUsd);
}
