import type { AdminClient } from '@gateway/admin-calls';
import { endpoints, parts, type JsonOf } from '@gateway/dashboard-contract';
import { sendCsv, type CsvRow } from '../http/csv';
import { csvFields, csvPages, CSV_PAGE_SIZE } from '../http/csv-pages';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

const LINE_HEADER: CsvRow = ['posted_at_utc', 'kind', 'reference', 'amount_usd', 'balance_usd', 'note'];
const DAY_COLUMNS = csvFields('day', 'added_usd', 'corrected_usd', 'used_usd', 'closing_balance_usd');
const CREDIT_COLUMNS = {
  posted_at_utc: ({ posted_at: at }: Credit) => at,
  ...csvFields('kind', 'reference', 'amount_usd', 'note'),
};

type Credit = JsonOf<typeof endpoints.credit.credits>['data'][number];

export function createStatementHandlers({ owners }: DashboardApiPorts): readonly Implementation[] {
  return [
    implement(endpoints.credit.statementCsv, async ({ params, query: { month, rows, day }, response }) => {
      const ledger = owners['billing-ledger'];
      switch (rows) {
        case 'lines':
          return sendCsv(
            response,
            `statement_${day ?? month}_utc.csv`,
            LINE_HEADER,
            lineChunks(ledger, params.organization_id, month, day),
          );
        case 'days': {
          const pages = csvPages(DAY_COLUMNS, async () => {
            const { data } = await ledger.call(endpoints.credit.statementDays, { params, query: { month } });
            return { data: data.reverse(), next_page_token: null };
          });
          return sendCsv(response, `statement_${month}_days_utc.csv`, Object.keys(DAY_COLUMNS), pages);
        }
        case 'credits': {
          const pages = csvPages(CREDIT_COLUMNS, async () => ({
            data: (await readCredits(ledger, params, month)).reverse(),
            next_page_token: null,
          }));
          return sendCsv(response, `statement_${month}_credits_utc.csv`, Object.keys(CREDIT_COLUMNS), pages);
        }
      }
    }),
  ];
}

/** All of a month, newest first. People enter them, so they are few. */
async function readCredits(
  ledger: AdminClient,
  params: { readonly organization_id: string },
  month: string,
): Promise<Credit[]> {
  const credits: Credit[] = [];
  for (let pageToken: string | null = ''; pageToken !== null;) {
    const query = { month, page_size: CSV_PAGE_SIZE, page_token: pageToken };
    const page: JsonOf<typeof endpoints.credit.credits> = await ledger.call(endpoints.credit.credits, {
      params,
      query,
    });
    credits.push(...page.data);
    pageToken = page.next_page_token;
  }
  return credits;
}

/** Includes the opening and closing balance as rows, so that the file adds up on its own. */
async function* lineChunks(
  ledger: AdminClient,
  organizationId: string,
  month: string,
  /** Undefined: the whole month. */
  day: string | undefined,
): AsyncGenerator<readonly CsvRow[]> {
  const params = { organization_id: organizationId };
  const [first, last] = [day ?? '', `${day ?? month}~`];
  let pageToken: string | null = '';
  let balance: string | undefined;
  let isOpen = false;
  do {
    const query = { month, page_token: pageToken };
    const page: LinesPage = await ledger.call(parts.statementLines, { params, query });
    balance ??= page.opening_balance_usd;
    const before = page.data.filter(({ posted_at: at }) => at < first);
    const lines = page.data.filter(({ posted_at: at }) => at >= first && at < last);
    balance = before.at(-1)?.balance_usd ?? balance;
    const isPast = before.length + lines.length < page.data.length;
    pageToken = isPast ? null : page.next_page_token;
    if (!isOpen && (lines.length > 0 || pageToken === null)) {
      isOpen = true;
      yield [[null, 'opening', null, null, balance, null]];
    }
    yield lines.map(lineRowOf);
    balance = lines.at(-1)?.balance_usd ?? balance;
  } while (pageToken !== null);
  yield [[null, 'closing', null, null, balance, null]];
}

type LinesPage = JsonOf<typeof parts.statementLines>;

function lineRowOf(line: LinesPage['data'][number]): CsvRow {
  return [line.posted_at, line.kind, line.reference, line.amount_usd, line.balance_usd, line.note];
}
