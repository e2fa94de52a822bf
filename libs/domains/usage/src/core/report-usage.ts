import type { ApiType } from '@gateway/base';
import { isRefusal, type Refusal } from '@gateway/errors';
import type { UsageReader } from './ports';
import { checkCombination, type ValueDimension } from './usage-values';
import {
  MAX_REPORT_ROWS,
  parseDays,
  sumOf,
  tooManyRows,
  type UsageDimension,
  type UsageQuery,
  type UsageReport,
  type UsageRow,
} from './usage-report';

export interface UsageReportRequest {
  readonly organizationId: string;
  /** UTC days as YYYY-MM-DD, both included. */
  readonly startDate: string;
  readonly endDate: string;
  readonly groupBy: ReadonlySet<UsageDimension>;
  /** Together with no dimension but the day. */
  readonly groupByValue: ValueDimension | undefined;
  readonly modelId: string | undefined;
  readonly runId: string | undefined;
  readonly projectId: string | undefined;
  readonly apiType: ApiType | undefined;
}

/** Sums an organization's usage. The totals equal the sum of the rows, to the nano-dollar. */
export async function reportUsage(
  reader: UsageReader,
  { startDate, endDate, groupByValue, ...query }: UsageReportRequest,
): Promise<UsageReport | Refusal> {
  const days = parseDays(startDate, endDate);
  if (isRefusal(days)) return days;
  const rows =
    groupByValue === undefined
      ? await reader.sumUsage({ ...query, ...days }, MAX_REPORT_ROWS + 1)
      : await sumByValue(reader, { ...query, ...days }, groupByValue);
  if (isRefusal(rows)) return rows;
  if (rows.length > MAX_REPORT_ROWS) return tooManyRows();
  return { totals: sumOf(rows), rows };
}

async function sumByValue(
  reader: UsageReader,
  { organizationId, startDay, endDay, groupBy, modelId, runId, projectId, apiType }: UsageQuery,
  dimension: ValueDimension,
): Promise<readonly UsageRow[] | Refusal> {
  const dimensions = [...groupBy].filter((each) => each !== 'day');
  const refusal = checkCombination('group_by', { dimensions, filters: [modelId, runId, projectId, apiType] });
  if (refusal) return refusal;
  const byDay = groupBy.has('day');
  return reader.sumUsageByValue({ organizationId, startDay, endDay, byDay, dimension }, MAX_REPORT_ROWS + 1);
}
