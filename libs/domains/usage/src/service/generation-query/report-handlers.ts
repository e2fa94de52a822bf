import type { GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import { GatewayError, isRefusal, refusalError } from '@gateway/errors';
import type { RpcHandlers } from '@gateway/rpc';
import type { UnixMs } from '@gateway/base';
import { listGenerations } from '../../core/list-generations';
import type { UsageReader } from '../../core/ports';
import { reportSeries } from '../../core/usage-series';
import {
  fromKeyActivity,
  fromMetrics,
  fromOrganizationUsage,
  fromPoint,
  fromReconciliation,
  fromRecord,
  fromSummary,
  timeOf,
  fromRefused,
  toErrorCountsQuery,
  toListRequest,
  toRefusedRequest,
  toSeriesQuery,
} from './report-messages';

const MAX_KEYS = 200;
const MAX_ORGANIZATIONS = 200;
const MAX_MODELS = 200;

/** The rpcs of the dashboard. All but those for operators are limited to one organization. */
export function createGenerationReportsHandlers(
  reader: UsageReader,
): RpcHandlers<typeof GenerationReportsDefinition> {
  return {
    async getUsageSeries(request) {
      const series = await reportSeries(reader, toSeriesQuery(request));
      if (isRefusal(series)) throw refusalError(series);
      return {
        startUnixMs: BigInt(series.start),
        endUnixMs: BigInt(series.end),
        totals: fromMetrics(series.totals),
        points: series.points.map(fromPoint),
      };
    },
    async listGenerations(request) {
      const page = await listGenerations(reader, toListRequest(request));
      if (isRefusal(page)) throw refusalError(page);
      return {
        generations: page.generations.map(fromRecord),
        nextPageToken: page.nextPageToken,
        searchedUntilUnixMs: page.searchedUntil === undefined ? undefined : BigInt(page.searchedUntil),
      };
    },
    async getGenerationRecord({ organizationId, generationId }) {
      if (generationId === '' || generationId.includes('\0')) return { record: undefined };
      const found = await reader.findGeneration(organizationId, generationId);
      return { record: found && fromRecord(found) };
    },
    async listRefusedRequests(request) {
      const { filter, limit } = toRefusedRequest(request);
      return { requests: (await reader.listRefused(filter, limit)).map(fromRefused) };
    },
    async getErrorCounts(request) {
      return { errors: [...(await reader.countErrors(toErrorCountsQuery(request)))] };
    },
    async getUsageNow({ organizationId, nowUnixMs }) {
      const now = await reader.readNow(organizationId, Number(nowUnixMs) as UnixMs);
      return {
        requestsToday: now.requests,
        chargedTodayNanoUsd: now.chargedNanoUsd,
        latestGenerationId: now.latestGenerationId,
      };
    },
    async getUsageReconciliation() {
      return fromReconciliation(await reader.readReconciliation());
    },
    async getUsageSummary({ organizationId, nowUnixMs }) {
      return fromSummary(await reader.readSummary(organizationId, timeOf('now_unix_ms', nowUnixMs)));
    },
    async listOrganizationUsage({ organizationIds, nowUnixMs }) {
      if (organizationIds.length > MAX_ORGANIZATIONS) {
        const message = `organization_ids must have at most ${MAX_ORGANIZATIONS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'organization_ids' });
      }
      const now = timeOf('now_unix_ms', nowUnixMs);
      const organizations = await reader.readOrganizationUsage(organizationIds, now);
      return { organizations: organizations.map(fromOrganizationUsage) };
    },
    async listModelUse({ modelIds, nowUnixMs }) {
      if (modelIds.length > MAX_MODELS) {
        const message = `model_ids must have at most ${MAX_MODELS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'model_ids' });
      }
      return { models: [...(await reader.readModelUse(modelIds, timeOf('now_unix_ms', nowUnixMs)))] };
    },
    async getPlatformUsage({ nowUnixMs }) {
      return reader.readPlatformUsage(timeOf('now_unix_ms', nowUnixMs));
    },
    async getKeyActivity({ organizationId, keyIds, nowUnixMs }) {
      if (keyIds.length > MAX_KEYS) {
        const message = `key_ids must have at most ${MAX_KEYS} entries.`;
        throw new GatewayError('invalid_request', { message, param: 'key_ids' });
      }
      const keys = await reader.readKeyActivity(organizationId, keyIds, Number(nowUnixMs) as UnixMs);
      return { keys: keys.map(fromKeyActivity) };
    },
  };
}
