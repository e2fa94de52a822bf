import { UsageSource } from '@gateway/contracts/common';
import {
  UsageDimension as ProtoDimension,
  type Generation,
  type UsageRow as ProtoRow,
} from '@gateway/contracts/generation-query';
import { GatewayError } from '@gateway/errors';
import type { SettledGeneration } from '../../core/settled-generation';
import type { UsageDimension, UsageRow, UsageSums } from '../../core/usage-report';

const DIMENSIONS: ReadonlyMap<ProtoDimension, UsageDimension> = new Map([
  [ProtoDimension.USAGE_DIMENSION_DAY, 'day'],
  [ProtoDimension.USAGE_DIMENSION_MODEL, 'model'],
  [ProtoDimension.USAGE_DIMENSION_API_KEY, 'api_key'],
  [ProtoDimension.USAGE_DIMENSION_PROJECT, 'project'],
  [ProtoDimension.USAGE_DIMENSION_API_TYPE, 'api_type'],
]);

/** @throws GatewayError `invalid_request` for a dimension that is not known */
export function toDimension(dimension: ProtoDimension): UsageDimension {
  const known = DIMENSIONS.get(dimension);
  if (known) return known;
  throw new GatewayError('invalid_request', {
    param: 'group_by',
    message: `group_by takes ${[...DIMENSIONS.values()].join(', ')}.`,
  });
}

export function fromGeneration(generation: SettledGeneration): Generation {
  return {
    id: generation.id,
    modelId: generation.modelId,
    keyId: generation.keyId,
    requestId: generation.requestId,
    createdUnixMs: BigInt(generation.createdAt),
    streamed: generation.streamed,
    cancelled: generation.cancelled,
    finishReason: generation.finishReason,
    usage: generation.usage,
    usageSource: fromUsageSource(generation),
    costNanoUsd: generation.costNanoUsd,
    chargedNanoUsd: generation.chargedNanoUsd,
    latencyMs: generation.latencyMs,
    generationTimeMs: generation.generationTimeMs,
    externalUser: generation.externalUser,
    apiType: generation.apiType,
    provider: generation.provider,
    errorCode: generation.errorCode,
  };
}

function fromUsageSource({ usageSource }: SettledGeneration): UsageSource {
  switch (usageSource) {
    case 'provider':
      return UsageSource.USAGE_SOURCE_PROVIDER;
    case 'counted':
      return UsageSource.USAGE_SOURCE_COUNTED;
    case undefined:
      return UsageSource.USAGE_SOURCE_UNSPECIFIED;
  }
}

export function fromRow({ day, ...row }: UsageRow): ProtoRow {
  return { ...row, date: day };
}

export function fromSums(sums: UsageSums): ProtoRow {
  return { ...sums };
}
