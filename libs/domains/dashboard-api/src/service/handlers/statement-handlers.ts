import type { AdminClient } from '@gateway/admin-calls';
import { endpoints, parts, type JsonOf } from '@gateway/dashboard-contract';
import { sendCsv, type CsvRow } from '../http/csv';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

const CSV_HEADER: CsvRow = ['posted_at_utc', 'kind', 'reference', 'amount_usd', 'balance_usd', 'note'];

export function createStatementHandlers({ owners }: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.credit.statementCsv, async ({ params, query, response }) =>
      sendCsv(
        response,
        `statement_${query.month}_utc.csv`,
        CSV_HEADER,
        csvChunks(owners['billing-ledger'], params.organization_id, query.month),
      ),
    ),
  ];
}

/** Includes the opening and closing balance as rows, so that the file adds up on its own. */
async function* csvChunks(
  ledger: AdminClient,
  organizationId: string,
  month: string,
): AsyncGenerator<readonly CsvRow[]> {
  const params = { organization_id: organizationId };
  let pageToken: string | null = '';
  let balance: string | undefined;
  do {
    const query = { month, page_token: pageToken };
    const page: LinesPage = await ledger.call(parts.statementLines, { params, query });
    if (balance === undefined) {
      balance = page.opening_balance_usd;
      yield [[null, 'opening', null, null, balance, null]];
    }
    yield page.data.map(csvRowOf);
    balance = page.data.at(-1)?.balance_usd ?? balance;
    pageToken = page.next_page_token;
  } while (pageToken !== null);
  yield [[null, 'closing', null, null, balance, null]];
}

type LinesPage = JsonOf<typeof parts.statementLines>;

function csvRowOf(line: LinesPage['data'][number]): CsvRow {
  return [line.posted_at, line.kind, line.reference, line.amount_usd, line.balance_usd, line.note];
}
