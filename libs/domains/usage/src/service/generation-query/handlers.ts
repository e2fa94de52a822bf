import { apiTypes, storableText } from '@gateway/base';
import type { GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { isRefusal, refusalError } from '@gateway/errors';
import type { RpcHandlers } from '@gateway/rpc';
import type { UsageReader } from '../../core/ports';
import { reportUsage } from '../../core/report-usage';
import { fromGeneration, fromRow, fromSums, toGrouping } from './messages';

export function createGenerationQueryHandlers(
  reader: UsageReader,
): RpcHandlers<typeof GenerationQueryDefinition> {
  return {
    async getGeneration({ organizationId, generationId }) {
      // PostgreSQL text cannot contain NUL, so there is no such id.
      if (generationId === '' || generationId.includes('\0')) return { generation: undefined };
      const found = await reader.findGeneration(organizationId, generationId);
      return { generation: found && fromGeneration(found) };
    },
    async getUsage({ organizationId, startDate, endDate, groupBy, tag, modelId, runId, projectId, apiType }) {
      const report = await reportUsage(reader, {
        organizationId,
        startDate,
        endDate,
        ...toGrouping({ groupBy, tag }),
        modelId: storableText(modelId),
        runId: storableText(runId),
        projectId: storableText(projectId),
        apiType: apiTypes.find((each) => each === apiType),
      });
      if (isRefusal(report)) throw refusalError(report);
      return { totals: fromSums(report.totals), rows: report.rows.map(fromRow) };
    },
  };
}
