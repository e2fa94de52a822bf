import { useQuery } from '@tanstack/react-query';
import { statementDaysQuery, statementMonthsQuery } from '../../api/statement';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { omitUndefined } from '../../app/search';
import { exactDay, monthName } from '../../format/time';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { Figure, Figures, Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Money } from '../../ui/values';
import type { CreditSearch } from './search';
import { StatementCredits, StatementDays, StatementLines } from './statement-tables';
import { CsvLink } from '../../ui/csv-link';

interface StatementProps {
  readonly organizationId: string;
  readonly search: CreditSearch;
  readonly onSearch: (search: CreditSearch) => void;
}

const DAYS = 'days';

/** The statement of a UTC month: its sums, and its days, transactions or credits. */
export function Statement({ organizationId, search, onSearch }: StatementProps) {
  const current = new Date().toISOString().slice(0, 7);
  const month = search.day?.slice(0, 7) ?? search.month ?? current;
  const months = useQuery(statementMonthsQuery(organizationId));
  const days = useQuery(statementDaysQuery(organizationId, month));
  const monthOptions = [...new Set([current, month, ...(months.data?.data.map((one) => one.month) ?? [])])]
    .sort()
    .reverse();
  const monthSearch = omitUndefined({ month: month === current ? undefined : month });

  return (
    <Section
      title="Statement"
      description="Days and months are UTC."
      actions={
        <>
          <Select
            aria-label="Month"
            className="!w-40"
            value={month}
            onChange={({ target }) =>
              onSearch(
                omitUndefined({
                  month: target.value === current ? undefined : target.value,
                  view: search.view,
                }),
              )
            }
          >
            {monthOptions.map((one) => (
              <option key={one} value={one}>
                {monthName(one)}
              </option>
            ))}
          </Select>
          <Select
            aria-label="Show"
            className="!w-52"
            value={search.view ?? DAYS}
            onChange={({ target }) =>
              onSearch(
                omitUndefined({
                  ...monthSearch,
                  view: target.value === DAYS ? undefined : (target.value as CreditSearch['view']),
                }),
              )
            }
          >
            <option value={DAYS}>By day</option>
            <option value="credits">Credits and corrections</option>
            <option value="all">All transactions</option>
          </Select>
          <CsvLink
            href={api.url('GET /api/organizations/{organization_id}/statement.csv', {
              params: { organization_id: organizationId },
              query: csvQueryOf(month, search),
            })}
          />
        </>
      }
    >
      {blockingErrorOf(days) ? (
        <Failure error={days.error} what="statement" onRetry={() => void days.refetch()} />
      ) : !days.data ? (
        <SkeletonRows />
      ) : (
        <div className="grid gap-4">
          <Sums sums={days.data} isCurrent={month === current} />
          {search.day !== undefined ? (
            <>
              <div className="flex flex-wrap items-center justify-between gap-2">
                <h3 className="text-sm font-medium">{exactDay(search.day)}</h3>
                <Button small onClick={() => onSearch(monthSearch)}>
                  All days
                </Button>
              </div>
              <StatementLines organizationId={organizationId} month={month} day={search.day} />
            </>
          ) : search.view === 'credits' ? (
            <StatementCredits organizationId={organizationId} month={month} />
          ) : search.view === 'all' ? (
            <StatementLines organizationId={organizationId} month={month} day={undefined} />
          ) : (
            <StatementDays
              organizationId={organizationId}
              month={month}
              days={days.data.data}
              stale={days.isPlaceholderData}
            />
          )}
        </div>
      )}
    </Section>
  );
}

/** The rows that the page shows. */
function csvQueryOf(month: string, { day, view }: CreditSearch) {
  if (day !== undefined) return { month, day };
  if (view === 'all') return { month };
  return { month, rows: view === 'credits' ? ('credits' as const) : ('days' as const) };
}

interface SumsProps {
  readonly sums: {
    readonly opening_balance_usd: string;
    readonly added_usd: string;
    readonly corrected_usd: string;
    readonly used_usd: string;
    readonly closing_balance_usd: string;
  };
  readonly isCurrent: boolean;
}

/** Exact, since they add up. */
function Sums({ sums, isCurrent }: SumsProps) {
  return (
    <Figures>
      <Figure label="Opening balance">
        <Money usd={sums.opening_balance_usd} digits="all" />
      </Figure>
      <Figure label="Added">
        <Money usd={sums.added_usd} digits="all" />
      </Figure>
      <Figure label="Corrections">
        <Money usd={sums.corrected_usd} digits="all" />
      </Figure>
      <Figure label="Used">
        <Money usd={sums.used_usd} digits="all" />
      </Figure>
      <Figure label={isCurrent ? 'Current balance' : 'Closing balance'}>
        <Money usd={sums.closing_balance_usd} digits="all" />
      </Figure>
    </Figures>
  );
}
