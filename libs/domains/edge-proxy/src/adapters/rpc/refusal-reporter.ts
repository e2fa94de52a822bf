import type { UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { toGatewayError } from '@gateway/errors';
import type { RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import { limits, type RefusalReporter } from '../../core';

export interface RefusalReporterPorts {
  readonly usageAggregator: RpcClient<typeof UsageAggregatorDefinition>;
  /** Identifies this process; a new one at each start. */
  readonly reporterId: string;
  readonly log: Logger;
}

export function createRefusalReporter({
  usageAggregator,
  reporterId,
  log,
}: RefusalReporterPorts): RefusalReporter {
  return {
    async report(reportNumber, { counts, latest }) {
      const request = {
        reporterId,
        reportNumber: BigInt(reportNumber),
        counts: counts.map(({ hour, requests, ...count }) => ({
          ...count,
          hourUnixMs: BigInt(hour),
          requests: BigInt(requests),
        })),
        latest: latest.map(({ at, modelId: _modelId, projectId: _projectId, ...request }) => ({
          ...request,
          refusedUnixMs: BigInt(at),
        })),
      };
      try {
        await usageAggregator.recordRefusals(request, { timeoutMs: limits.calls.reportRefusalsMs });
        return 'recorded';
      } catch (error) {
        if (toGatewayError(error).code !== 'invalid_request') throw error;
        log.error({ err: error, reportNumber }, 'the usage aggregator rejected a report of refused requests');
        return 'rejected';
      }
    },
  };
}
