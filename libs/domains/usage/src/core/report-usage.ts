import type { ApiType } from '@gateway/base';
import { isRefusal, type Refusal } from '@gateway/errors';
import type { UsageReader } from './ports';
import {
  MAX_REPORT_ROWS,
  parseDays,
  sumOf,
  tooManyRows,
  type UsageDimension,
  type UsageReport,
} from './usage-report';

export interface UsageReportRequest {
  readonly organizationId: string;
  /** UTC days as YYYY-MM-DD, both included. */
  readonly startDate: string;
  readonly endDate: string;
  readonly groupBy: ReadonlySet<UsageDimension>;
  readonly modelId: string | undefined;
  readonly runId: string | undefined;
  readonly projectId: string | undefined;
  readonly apiType: ApiType | undefined;
}

/** Sums an organization's usage. The totals equal the sum of the rows, to the nano-dollar. */
export async function reportUsage(
  reader: UsageReader,
  { startDate, endDate, ...query }: UsageReportRequest,
): Promise<UsageReport | Refusal> {
  const days = parseDays(startDate, endDate);
  if (isRefusal(days)) return days;
  const rows = await reader.sumUsage({ ...query, ...days }, MAX_REPORT_ROWS + 1);
  if (rows.length > MAX_REPORT_ROWS) return tooManyRows();
  return { totals: sumOf(rows), rows };
}
