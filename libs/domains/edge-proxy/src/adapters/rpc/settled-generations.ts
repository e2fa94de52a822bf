import { unavailableAsNoCapacity } from '@gateway/errors';
import { NO_USAGE, apiTypeOf, nanoUsd, type UnixMs } from '@gateway/base';
import { usageSourceOf } from '@gateway/contracts/common';
import {
  type GenerationQueryDefinition,
  UsageDimension,
  usageDimensionMessage,
  UsageRow,
} from '@gateway/contracts/generation-query';
import { isTagDimension, type UsageGroup } from '@gateway/public-api';
import { type RpcClient, isRpcWithoutResponse } from '@gateway/rpc';
import { limits, type SettledGenerations } from '../../core';

export interface SettledGenerationsPorts {
  readonly generationQuery: RpcClient<typeof GenerationQueryDefinition>;
}

export function createSettledGenerations({ generationQuery }: SettledGenerationsPorts): SettledGenerations {
  return {
    async find(organizationId, generationId, metadata) {
      const { generation } = await unavailableAsNoCapacity(
        generationQuery.getGeneration(
          { organizationId, generationId },
          { timeoutMs: limits.calls.readMs, metadata },
        ),
        isRpcWithoutResponse,
      );
      if (!generation) return undefined;
      return {
        ...generation,
        createdAt: Number(generation.createdUnixMs) as UnixMs,
        apiType: apiTypeOf(generation.apiType),
        usage: generation.usage ?? NO_USAGE,
        usageSource: usageSourceOf(generation.usageSource),
        chargedNanoUsd: nanoUsd(generation.chargedNanoUsd),
      };
    },
    async usage(
      organizationId,
      { startDate, endDate, groupBy, modelId, runId, projectId, apiType },
      metadata,
    ) {
      const tag = groupBy.find(isTagDimension)?.slice('tag:'.length);
      const dimensions = groupBy.map((dimension) =>
        isTagDimension(dimension) ? UsageDimension.USAGE_DIMENSION_TAG : usageDimensionMessage(dimension),
      );
      const { totals, rows } = await unavailableAsNoCapacity(
        generationQuery.getUsage(
          {
            organizationId,
            startDate,
            endDate,
            groupBy: dimensions,
            tag,
            modelId,
            runId,
            projectId,
            apiType,
          },
          { timeoutMs: limits.calls.readMs, metadata },
        ),
        isRpcWithoutResponse,
      );
      return { totals: groupOf(totals ?? UsageRow.fromPartial({})), groups: rows.map(groupOf) };
    },
  };
}

function groupOf(row: UsageRow): UsageGroup {
  return { ...row, costNanoUsd: nanoUsd(row.costNanoUsd) };
}
