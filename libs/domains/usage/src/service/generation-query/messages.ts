import { storableText } from '@gateway/base';
import { usageSourceMessage } from '@gateway/contracts/common';
import {
  UsageDimension as ProtoDimension,
  usageDimensionOf,
  type Generation,
  type GetUsageRequest,
  type UsageRow as ProtoRow,
} from '@gateway/contracts/generation-query';
import { GatewayError } from '@gateway/errors';
import type { SettledGeneration } from '../../core/settled-generation';
import type { UsageDimension, UsageRow, UsageSums } from '../../core/usage-report';
import type { ValueDimension } from '../../core/usage-values';

interface Grouping {
  readonly groupBy: ReadonlySet<UsageDimension>;
  readonly groupByValue: ValueDimension | undefined;
}

/** @throws GatewayError `invalid_request` for a dimension that is not known, and for several values. */
export function toGrouping({ groupBy, tag }: Pick<GetUsageRequest, 'groupBy' | 'tag'>): Grouping {
  const values = groupBy.flatMap((each) => valueDimensionOf(each, tag) ?? []);
  if (values.length > 1) throw invalidGroupBy('Usage is grouped by at most one of user and tag.');
  const others = groupBy.filter((each) => valueDimensionOf(each, tag) === undefined);
  return { groupBy: new Set(others.map(toDimension)), groupByValue: values[0] };
}

function valueDimensionOf(dimension: ProtoDimension, tag: string | undefined): ValueDimension | undefined {
  if (dimension === ProtoDimension.USAGE_DIMENSION_USER) return 'user';
  return dimension === ProtoDimension.USAGE_DIMENSION_TAG ? `tag:${storableText(tag ?? '')}` : undefined;
}

function toDimension(dimension: ProtoDimension): UsageDimension {
  const name = usageDimensionOf(dimension);
  if (name !== undefined && name !== 'user') return name;
  throw invalidGroupBy('group_by takes day, model, api_key, project, api_type, user, tag.');
}

function invalidGroupBy(message: string): GatewayError {
  return new GatewayError('invalid_request', { param: 'group_by', message });
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
    usageSource: usageSourceMessage(generation.usageSource),
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

export function fromRow({ day, byValue, ...row }: UsageRow): ProtoRow {
  return { ...row, date: day, value: byValue?.value, otherValues: byValue?.isOther };
}

export function fromSums(sums: UsageSums): ProtoRow {
  return { ...sums };
}
