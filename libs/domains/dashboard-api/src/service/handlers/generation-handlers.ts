import { GenerationStatus } from '@gateway/contracts/generation-query';
import { endpoints } from '@gateway/dashboard-contract';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import {
  GENERATION_STATUSES,
  generationDetailView,
  generationSummaryView,
  refusedRequestView,
} from '../messages/generation-views';
import { pageView, timeOrNull, unixMsOf } from '../messages/views';
import type { DashboardApiPorts } from '../ports';

/** The most that the service returns. */
const MAX_REFUSED = 200;

export function createGenerationHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { generationReports, ledgerAdmin, log } = ports;

  /** Undefined while the ledger is unavailable: the generation is shown without its entries. */
  const readEntries = (organizationId: string, reference: string) =>
    ledgerAdmin.listEntries({ organizationId, reference }).then(
      ({ entries }) => entries,
      (error: unknown) => {
        log.warn({ err: error, reference }, 'ledger entries of a generation are unavailable');
        return undefined;
      },
    );

  return [
    implement(endpoints.generations.list, async ({ params, query }) => {
      const organizationId = params.organization_id;
      const { generations, nextPageToken, searchedUntilUnixMs } = await generationReports.listGenerations({
        organizationId,
        search: query.search,
        sinceUnixMs: unixMsOf(query.since),
        untilUnixMs: unixMsOf(query.until),
        modelId: query.model_id,
        keyId: query.key_id,
        externalUser: query.external_user,
        status: query.status
          ? GENERATION_STATUSES[query.status]
          : GenerationStatus.GENERATION_STATUS_UNSPECIFIED,
        minCostNanoUsd: query.min_cost_usd,
        maxCostNanoUsd: query.max_cost_usd,
        pageSize: query.page_size,
        pageToken: query.page_token,
      });
      return {
        ...pageView(generations.map(generationSummaryView), nextPageToken),
        searched_until: timeOrNull(searchedUntilUnixMs),
      };
    }),

    implement(endpoints.generations.refused, async ({ params, query }) => {
      const { requests } = await generationReports.listRefusedRequests({
        organizationId: params.organization_id,
        requestId: query.request_id,
        keyId: query.key_id,
        model: query.model,
        limit: MAX_REFUSED,
      });
      return { data: requests.map(refusedRequestView) };
    }),

    implement(endpoints.generations.get, async ({ params, isOperator }) => {
      const { organization_id: organizationId, generation_id: generationId } = params;
      const [{ record }, entries] = await Promise.all([
        generationReports.getGenerationRecord({ organizationId, generationId }),
        readEntries(organizationId, generationId),
      ]);
      if (!record) {
        throw new DashboardError('not_found', {
          message:
            'This generation does not exist, or is not settled yet. A refused request has no generation.',
        });
      }
      return { generation: generationDetailView(record, { entries, showsTargets: isOperator }) };
    }),
  ];
}
