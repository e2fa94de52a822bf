import { implement, pageView, usd, type Implementation } from '@gateway/admin-calls';
import type { Clock } from '@gateway/base';
import type { LedgerStore } from '@gateway/billing-ledger/core';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { NO_SPEND, type SpendOwner, type StatementStore } from '../core/ports';
import type { StatementLine, StatementQuery } from '../core/statement';
import {
  parseCreditCursor,
  parseCursor,
  parseDay,
  parseMonth,
  renderCreditCursor,
  renderCursor,
} from './messages';
import {
  budgetSpendView,
  creditView,
  dayView,
  endUserSpendView,
  entryView,
  lineView,
  monthView,
  openHoldsView,
  reconciliationView,
  windowSpendView,
} from './views';

export interface StatementEndpointPorts {
  readonly ledger: Pick<LedgerStore, 'readHealth'>;
  readonly statements: StatementStore;
  readonly clock: Clock;
}

const UTC = 'UTC' as const;
/** Lines per page of a file. */
const FILE_LINES = 1_000;
/** What fits on one page of organizations. */
const MAX_LOW_BALANCES = 200;
/** What the ids of postings consist of. */
const REFERENCE = /^[\x21-\x7e]{1,200}$/;

/** Statements, and the parts of other pages that postings are summed up for. */
export function createStatementEndpoints({
  ledger,
  statements,
  clock,
}: StatementEndpointPorts): readonly Implementation[] {
  /** One page, and the token of the next. */
  async function readPage(query: StatementQuery) {
    const { sums, lines } = await statements.readStatement({ ...query, limit: query.limit + 1 });
    const shown: readonly StatementLine[] = lines.slice(0, query.limit);
    const last = shown.at(-1);
    const nextPageToken = lines.length > query.limit && last ? renderCursor(last, query.oldestFirst) : '';
    return { sums, page: pageView(shown.map(lineView), nextPageToken) };
  }

  async function spendOf(
    organizationId: string,
    owner: SpendOwner,
    { hours, models }: { readonly hours: readonly number[]; readonly models: readonly string[] },
  ) {
    const owners = [owner, ...models.map((model) => ({ ...owner, model }))];
    const [[spend = NO_SPEND, ...ofModels], [windows = [], ...windowsOfModels]] = await Promise.all([
      statements.readBudgetSpend(organizationId, owners),
      hours.length === 0 ? [] : statements.readWindowSpend(organizationId, owners, hours),
    ]);
    return {
      spend: budgetSpendView(spend),
      windows: windows.map(windowSpendView),
      models: ofModels.map((each, index) => ({
        model: models[index] ?? '',
        ...budgetSpendView(each),
        windows: (windowsOfModels[index] ?? []).map(windowSpendView),
      })),
    };
  }

  return [
    implement(endpoints.credit.months, async ({ params }) => ({
      timezone: UTC,
      data: (await statements.readMonths(params.organization_id)).map(monthView),
    })),

    implement(endpoints.credit.statement, async ({ params, query }) => {
      const month = parseMonth(query.month);
      const { sums, page } = await readPage({
        organizationId: params.organization_id,
        month,
        day: parseDay(query.day, month),
        oldestFirst: false,
        after: parseCursor(query.page_token),
        limit: query.page_size,
      });
      return { ...page, timezone: UTC, ...monthView(sums) };
    }),

    implement(endpoints.credit.statementDays, async ({ params, query }) => {
      const { sums, days } = await statements.readDays(params.organization_id, parseMonth(query.month));
      return { timezone: UTC, ...monthView(sums), data: days.map(dayView) };
    }),

    implement(endpoints.credit.credits, async ({ params, query }) => {
      const limit = query.page_size;
      const credits = await statements.listCredits({
        organizationId: params.organization_id,
        month: parseMonth(query.month),
        after: parseCreditCursor(query.page_token),
        limit: limit + 1,
      });
      const shown = credits.slice(0, limit);
      const last = shown.at(-1);
      return pageView(shown.map(creditView), credits.length > limit && last ? renderCreditCursor(last) : '');
    }),

    implement(parts.statementLines, async ({ params, query }) => {
      const { sums, page } = await readPage({
        organizationId: params.organization_id,
        month: parseMonth(query.month),
        day: undefined,
        oldestFirst: true,
        after: parseCursor(query.page_token),
        limit: FILE_LINES,
      });
      return { ...page, opening_balance_usd: usd(sums.openingNanoUsd) };
    }),

    implement(parts.ledgerEntries, async ({ params, query: { reference } }) => {
      const isPossible = REFERENCE.test(reference);
      const entries = isPossible ? await statements.listEntries(params.organization_id, reference) : [];
      return { data: entries.map(entryView) };
    }),

    implement(parts.projectSpend, async ({ params, query }) => {
      const owners = query.project_ids.map((ownerId) => ({ scope: 'project' as const, ownerId }));
      const spend = await statements.readBudgetSpend(params.organization_id, owners);
      return { data: spend.map(budgetSpendView) };
    }),

    implement(endpoints.organizations.budgetSpend, ({ params, query }) =>
      spendOf(params.organization_id, { scope: 'organization', ownerId: '' }, query),
    ),

    implement(endpoints.projects.budgetSpend, ({ params, query }) =>
      spendOf(params.organization_id, { scope: 'project', ownerId: params.project_id }, query),
    ),
    implement(endpoints.keys.budgetSpend, ({ params, query }) =>
      spendOf(params.organization_id, { scope: 'key', ownerId: params.key_id }, query),
    ),

    implement(endpoints.keys.endUserSpend, async ({ params, query }) => {
      const { period, hours, limit } = query;
      if ((period === 'window') !== (hours !== undefined))
        throw new DashboardError('invalid', { param: 'hours', message: 'hours belongs to a window.' });
      const of = { organizationId: params.organization_id, keyId: params.key_id };
      const spend = await statements.listEndUserSpend({ ...of, period, hours, limit });
      return { data: spend.map(endUserSpendView) };
    }),

    implement(parts.lowBalances, async ({ query: { below_usd: below } }) => ({
      organization_ids: await statements.listLowBalances(below, MAX_LOW_BALANCES),
    })),

    implement(parts.balances, async ({ query }) => {
      const balances = await statements.readBalances(query.organization_ids);
      return { data: balances.map(({ balanceNanoUsd }) => usd(balanceNanoUsd)) };
    }),

    implement(parts.openHolds, async () => openHoldsView(await ledger.readHealth(), clock.now())),

    implement(parts.ledgerReconciliation, async () =>
      reconciliationView(await statements.readReconciliation()),
    ),
  ];
}
