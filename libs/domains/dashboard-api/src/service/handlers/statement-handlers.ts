import { isoTime, pageRequest, pageView, usd } from '@gateway/admin-calls';
import type { BillingLedgerAdminDefinition, StatementLine } from '@gateway/contracts/billing-ledger';
import { endpoints } from '@gateway/dashboard-contract';
import type { RpcClient } from '@gateway/rpc';
import { sendCsv, type CsvRow } from '../http/csv';
import { implement, type Implementation } from '../http/implement';
import {
  creditView,
  statementDayView,
  statementLineView,
  statementMonthView,
} from '../messages/credit-views';
import type { DashboardApiPorts } from '../ports';

const CSV_HEADER: CsvRow = ['posted_at_utc', 'kind', 'reference', 'amount_usd', 'balance_usd', 'note'];
/** Lines per ledger request while a file is written. */
const CSV_PAGE_SIZE = 1_000;
/** The first request after a month ends may sum up that month. */
const STATEMENT_TIMEOUT_MS = 25_000;

export function createStatementHandlers({ ledgerAdmin }: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.credit.months, async ({ params }) => {
      const { months } = await ledgerAdmin.listStatementMonths(
        { organizationId: params.organization_id },
        { timeoutMs: STATEMENT_TIMEOUT_MS },
      );
      return { timezone: 'UTC' as const, data: months.map(statementMonthView) };
    }),

    implement(endpoints.credit.statement, async ({ params, query }) => {
      const { sums, lines, nextPageToken } = await ledgerAdmin.listStatement(
        {
          organizationId: params.organization_id,
          month: query.month,
          oldestFirst: false,
          pageSize: query.page_size,
          pageToken: query.page_token,
          day: query.day,
        },
        { timeoutMs: STATEMENT_TIMEOUT_MS },
      );
      return {
        ...pageView(lines.map(statementLineView), nextPageToken),
        timezone: 'UTC' as const,
        ...statementMonthView(sums),
      };
    }),

    implement(endpoints.credit.statementDays, async ({ params, query }) => {
      const { sums, days } = await ledgerAdmin.listStatementDays(
        { organizationId: params.organization_id, month: query.month },
        { timeoutMs: STATEMENT_TIMEOUT_MS },
      );
      return { timezone: 'UTC' as const, ...statementMonthView(sums), data: days.map(statementDayView) };
    }),

    implement(endpoints.credit.credits, async ({ params, query }) => {
      const { credits, nextPageToken } = await ledgerAdmin.listCredits({
        organizationId: params.organization_id,
        month: query.month,
        ...pageRequest(query),
      });
      return pageView(credits.map(creditView), nextPageToken);
    }),

    implement(endpoints.credit.statementCsv, async ({ params, query, response }) =>
      sendCsv(
        response,
        `statement_${query.month}_utc.csv`,
        CSV_HEADER,
        csvChunks(ledgerAdmin, params.organization_id, query.month),
      ),
    ),
  ];
}

/** Includes the opening and closing balance as rows, so that the file adds up on its own. */
async function* csvChunks(
  ledgerAdmin: RpcClient<typeof BillingLedgerAdminDefinition>,
  organizationId: string,
  month: string,
): AsyncGenerator<readonly CsvRow[]> {
  let pageToken = '';
  let balance: bigint | undefined;
  do {
    const page = await ledgerAdmin.listStatement(
      { organizationId, month, day: undefined, oldestFirst: true, pageSize: CSV_PAGE_SIZE, pageToken },
      { timeoutMs: STATEMENT_TIMEOUT_MS },
    );
    if (balance === undefined) {
      balance = page.sums?.openingNanoUsd ?? 0n;
      yield [[null, 'opening', null, null, usd(balance), null]];
    }
    yield page.lines.map(csvRowOf);
    balance = page.lines.at(-1)?.balanceNanoUsd ?? balance;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  yield [[null, 'closing', null, null, usd(balance), null]];
}

function csvRowOf(line: StatementLine): CsvRow {
  return [
    isoTime(line.postedUnixMs),
    line.kind,
    line.reference,
    usd(line.amountNanoUsd),
    usd(line.balanceNanoUsd),
    line.note ?? null,
  ];
}
