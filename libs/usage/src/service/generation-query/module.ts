import {
  GenerationQueryDefinition,
  UsageDimension as ProtoDimension,
  type Generation,
  type UsageRow as ProtoRow,
} from '@gateway/contracts/generation-query';
import { GatewayError, isRefusal, refusalError } from '@gateway/errors';
import { bindService } from '@gateway/rpc';
import { type GatewayModule } from '@gateway/module';

import type { UsageReader } from '../../core/ports';
import { reportUsage } from '../../core/report-usage';
import type { SettledGeneration } from '../../core/settled-generation';
import type { UsageDimension, UsageRow, UsageSums } from '../../core/usage-report';

export interface GenerationQueryPorts {
  readonly reader: UsageReader;
}

const DIMENSIONS: ReadonlyMap<ProtoDimension, UsageDimension> = new Map([
  [ProtoDimension.USAGE_DIMENSION_DAY, 'day'],
  [ProtoDimension.USAGE_DIMENSION_MODEL, 'model'],
  [ProtoDimension.USAGE_DIMENSION_API_KEY, 'api_key'],
]);

/** The read side: looks up settled generations and adds up usage, each within one organization. */
export function createGenerationQueryModule({ reader }: GenerationQueryPorts): GatewayModule {
  const service = bindService(GenerationQueryDefinition, {
    async getGeneration({ organizationId, generationId }) {
      // Text that the database could not hold names nothing that is in it.
      if (generationId === '' || generationId.includes('\0')) return { generation: undefined };
      const found = await reader.findGeneration(organizationId, generationId);
      return { generation: found && messageOf(found) };
    },
    async getUsage({ organizationId, startDate, endDate, groupBy, modelId }) {
      const report = await reportUsage(reader, {
        organizationId,
        startDate,
        endDate,
        groupBy: new Set(groupBy.map(dimensionOf)),
        modelId: modelId?.replaceAll('\0', ''),
      });
      if (isRefusal(report)) throw refusalError(report);
      return { totals: sumsMessageOf(report.totals), rows: report.rows.map(rowMessageOf) };
    },
  });
  return {
    name: 'generation-query',
    services: [service],
    consumers: [],
    start: async () => undefined,
    stop: async () => undefined,
  };
}

function dimensionOf(dimension: ProtoDimension): UsageDimension {
  const known = DIMENSIONS.get(dimension);
  if (known) return known;
  throw new GatewayError('invalid_request', {
    param: 'group_by',
    message: 'group_by takes day, model and api_key.',
  });
}

function messageOf(generation: SettledGeneration): Generation {
  const { createdAt, providerModel: _providerModel, settledAt: _settledAt, ...rest } = generation;
  return { ...rest, createdUnixMs: BigInt(createdAt) };
}

function rowMessageOf({ day, ...row }: UsageRow): ProtoRow {
  return { ...row, date: day };
}

function sumsMessageOf(sums: UsageSums): ProtoRow {
  return { ...sums };
}
