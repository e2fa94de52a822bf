import { apiTypeOf, storableText, type Clock } from '@gateway/base';
import type { RecordRefusalsRequest, UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { GatewayError } from '@gateway/errors';
import type { RpcHandlers } from '@gateway/rpc';
import type { RefusalStore } from '../../core/ports';
import type { RefusalReport } from '../../core/refusals';
import type { UsageAggregatorMetrics } from './metrics';
import { required, timeOf } from './messages';

const MAX_COUNTS = 5_000;
const MAX_LATEST = 5_000;

export interface UsageAggregatorHandlerPorts {
  readonly refusals: RefusalStore;
  readonly clock: Clock;
  readonly metrics: UsageAggregatorMetrics;
}

export function createUsageAggregatorHandlers({
  refusals,
  clock,
  metrics,
}: UsageAggregatorHandlerPorts): RpcHandlers<typeof UsageAggregatorDefinition> {
  return {
    async recordRefusals(request) {
      const report = parseReport(request);
      if (await refusals.record(report, clock.now())) {
        metrics.refused(report.counts.reduce((sum, { requests }) => sum + requests, 0n));
      }
      return {};
    },
  };
}

function parseReport(request: RecordRefusalsRequest): RefusalReport {
  const { reporterId, reportNumber, counts, latest } = request;
  if (counts.length > MAX_COUNTS || latest.length > MAX_LATEST) {
    throw new GatewayError('invalid_request', { internalMessage: 'the report is too large' });
  }
  try {
    return {
      reporterId: required(reporterId, 'reporter_id'),
      reportNumber,
      counts: counts.map((count) => ({
        organizationId: required(count.organizationId, 'organization_id'),
        keyId: storableText(count.keyId),
        projectId: storableText(count.projectId),
        modelId: storableText(count.modelId),
        errorCode: required(count.errorCode, 'error_code'),
        apiType: apiTypeOf(count.apiType),
        hour: timeOf(count.hourUnixMs, 'hour_unix_ms'),
        requests: count.requests,
      })),
      latest: latest.map((one) => ({
        requestId: required(one.requestId, 'request_id'),
        organizationId: required(one.organizationId, 'organization_id'),
        keyId: storableText(one.keyId),
        model: storableText(one.model),
        errorCode: required(one.errorCode, 'error_code'),
        errorMessage: storableText(one.errorMessage),
        apiType: apiTypeOf(one.apiType),
        refusedAt: timeOf(one.refusedUnixMs, 'refused_unix_ms'),
      })),
    };
  } catch (error) {
    throw new GatewayError('invalid_request', { internalMessage: (error as Error).message, cause: error });
  }
}
