import type { Result } from '@gateway/dashboard-contract/client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client';
import { monthName } from '../../format/time';
import { Button, buttonClass } from '../../ui/button';
import { Select } from '../../ui/field';
import { Icon } from '../../ui/icons';
import { Figure, Figures, Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money, Text, Time } from '../../ui/values';

type StatementPage = Result<'GET /api/organizations/{organization_id}/statement'>;
type StatementLine = StatementPage['data'][number];

interface StatementProps {
  readonly organizationId: string;
  /** Such as "2026-11"; the current month when absent. */
  readonly month: string | undefined;
  readonly onMonth: (month: string | undefined) => void;
}

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** The statement of a UTC month with opening and closing balance. */
export function Statement({ organizationId, month, onMonth }: StatementProps) {
  const current = new Date().toISOString().slice(0, 7);
  const chosen = month !== undefined && MONTH.test(month) ? month : current;
  const params = { organization_id: organizationId };
  const months = useQuery({
    queryKey: ['statement-months', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/statement/months', { params, signal }),
  });
  const lines = useInfiniteQuery({
    queryKey: ['statement', organizationId, chosen],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/statement', {
        params,
        query: { month: chosen, page_token: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });
  const monthOptions = [...new Set([current, chosen, ...(months.data?.data.map((one) => one.month) ?? [])])]
    .sort()
    .reverse();
  const rows = lines.data?.pages.flatMap(({ data }) => data) ?? [];
  const sums = lines.data?.pages[0];

  return (
    <Section
      title="Statement"
      description="Months are UTC."
      actions={
        <>
          <Select
            aria-label="Month"
            className="!w-44"
            value={chosen}
            onChange={({ target }) => onMonth(target.value === current ? undefined : target.value)}
          >
            {monthOptions.map((one) => (
              <option key={one} value={one}>
                {monthName(one)}
              </option>
            ))}
          </Select>
          <a
            className={buttonClass()}
            download
            href={api.url('GET /api/organizations/{organization_id}/statement.csv', {
              params,
              query: { month: chosen },
            })}
          >
            <Icon name="download" />
            CSV
          </a>
        </>
      }
    >
      {lines.error ? (
        <Failure error={lines.error} what="statement" onRetry={() => void lines.refetch()} />
      ) : !sums ? (
        <SkeletonRows />
      ) : (
        <div className="grid gap-4">
          <Figures>
            <Figure label="Opening balance">
              <Money usd={sums.opening_balance_usd} />
            </Figure>
            <Figure label="Added">
              <Money usd={sums.added_usd} />
            </Figure>
            <Figure label="Corrections">
              <Money usd={sums.corrected_usd} />
            </Figure>
            <Figure label="Used">
              <Money usd={sums.used_usd} />
            </Figure>
            <Figure label={chosen === current ? 'Current balance' : 'Closing balance'}>
              <Money usd={sums.closing_balance_usd} />
            </Figure>
          </Figures>
          {rows.length === 0 ? (
            <Empty icon="wallet" title={`No transactions in ${monthName(chosen)}`}>
              Added credit and charges for generations appear here.
            </Empty>
          ) : (
            <Table
              caption={`Statement for ${monthName(chosen)}`}
              rows={rows}
              columns={columns(organizationId)}
              rowId={({ kind, reference }) => `${kind} ${reference}`}
              stale={lines.isPlaceholderData}
            />
          )}
          {lines.hasNextPage && (
            <Button
              className="justify-self-center"
              busy={lines.isFetchingNextPage}
              onClick={() => void lines.fetchNextPage()}
            >
              Load more
            </Button>
          )}
        </div>
      )}
    </Section>
  );
}

const KINDS = { credit: 'Credit added', correction: 'Correction', settlement: 'Generation' } as const;

function columns(organizationId: string): readonly Column<StatementLine>[] {
  return [
    {
      id: 'at',
      header: 'Date',
      meta: { hide: 'phone' },
      cell: ({ row: { original: line } }) => <Time at={line.posted_at} className="text-ink-soft" />,
    },
    {
      id: 'kind',
      header: 'Type',
      cell: ({ row: { original: line } }) => (
        <div>
          {KINDS[line.kind]}
          {line.note !== null && (
            <p className="text-xs text-ink-soft">
              <Text>{line.note}</Text>
            </p>
          )}
          <p className="text-xs text-ink-faint sm:hidden">
            {line.kind === 'settlement' && (
              <Link
                to="/o/$organizationId/generations/$generationId"
                params={{ organizationId, generationId: line.reference }}
                className="text-accent"
              >
                Details
              </Link>
            )}{' '}
            <Time at={line.posted_at} />
          </p>
        </div>
      ),
    },
    {
      id: 'reference',
      header: 'Reference',
      meta: { hide: 'phone' },
      cell: ({ row: { original: line } }) =>
        line.kind === 'settlement' ? (
          <Link
            to="/o/$organizationId/generations/$generationId"
            params={{ organizationId, generationId: line.reference }}
            className="text-accent hover:underline"
          >
            <Id>{line.reference}</Id>
          </Link>
        ) : (
          <Id>{line.reference}</Id>
        ),
    },
    {
      id: 'amount',
      header: 'Amount',
      meta: { figures: true, usd: ({ amount_usd: usd }) => usd },
      cell: ({ row: { original: line } }) => <Money usd={line.amount_usd} />,
    },
    {
      id: 'balance',
      header: 'Balance after',
      meta: { figures: true, usd: ({ balance_usd: usd }) => usd },
      cell: ({ row: { original: line } }) => <Money usd={line.balance_usd} />,
    },
  ];
}
