import type { AdminClient } from '@gateway/admin-calls';
import { endpoints, parts, type JsonOf } from '@gateway/dashboard-contract';
import { csvFields, sendCsv } from '../http/csv';
import { csvPages, CSV_PAGE_SIZE } from '../http/csv-pages';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

const LINE_COLUMNS = {
  posted_at_utc: ({ posted_at: at }: CsvLine) => at,
  ...csvFields('kind', 'reference', 'amount_usd', 'balance_usd', 'note'),
};
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
            LINE_COLUMNS,
            lineChunks(ledger, params.organization_id, month, day),
          );
        case 'days': {
          const pages = csvPages(async () => {
            const { data } = await ledger.call(endpoints.credit.statementDays, { params, query: { month } });
            return { data: data.reverse(), next_page_token: null };
          });
          return sendCsv(response, `statement_${month}_days_utc.csv`, DAY_COLUMNS, pages);
        }
        case 'credits': {
          const pages = csvPages(async () => ({
            data: (await readCredits(ledger, params, month)).reverse(),
            next_page_token: null,
          }));
          return sendCsv(response, `statement_${month}_credits_utc.csv`, CREDIT_COLUMNS, pages);
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
  const pages = csvPages<Credit>((pageToken) =>
    ledger.call(endpoints.credit.credits, {
      params,
      query: { month, page_size: CSV_PAGE_SIZE, page_token: pageToken },
    }),
  );
  for await (const page of pages) credits.push(...page);
  return credits;
}

/** Includes the opening and closing balance as rows, so that the file adds up on its own. */
async function* lineChunks(
  ledger: AdminClient,
  organizationId: string,
  month: string,
  /** Undefined: the whole month. */
  day: string | undefined,
): AsyncGenerator<readonly CsvLine[]> {
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
      yield [balanceLine('opening', balance)];
    }
    yield lines;
    balance = lines.at(-1)?.balance_usd ?? balance;
  } while (pageToken !== null);
  yield [balanceLine('closing', balance)];
}

type LinesPage = JsonOf<typeof parts.statementLines>;

/** A line of the statement, or a balance. */
type CsvLine = Readonly<
  Record<'posted_at' | 'kind' | 'reference' | 'amount_usd' | 'balance_usd' | 'note', string | null>
>;

function balanceLine(kind: 'opening' | 'closing', balance: string): CsvLine {
  return { posted_at: null, kind, reference: null, amount_usd: null, balance_usd: balance, note: null };
}
