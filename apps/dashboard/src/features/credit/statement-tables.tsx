import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  statementCreditsQuery,
  statementLinesQuery,
  type StatementCredit,
  type StatementDay,
  type StatementLine,
} from '../../api/statement';
import { blockingErrorOf } from '../../api/transient-error';
import { nanoUsdOf } from '../../format/money';
import { exactDay, monthName } from '../../format/time';
import { Button } from '../../ui/button';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, Money, Text, LogTime, LogTimeHeading } from '../../ui/values';

interface StatementDaysProps {
  readonly organizationId: string;
  readonly month: string;
  readonly days: readonly StatementDay[];
  readonly stale: boolean;
}

export function StatementDays({ organizationId, month, days, stale }: StatementDaysProps) {
  if (days.length === 0) {
    return (
      <Empty icon="wallet" title={`No transactions in ${monthName(month)}`}>
        Added credit and charges for generations appear here.
      </Empty>
    );
  }
  return (
    <Table
      caption={`Statement for ${monthName(month)} by day`}
      rows={days}
      columns={dayColumns(organizationId)}
      rowId={({ day }) => day}
      stale={stale}
    />
  );
}

function dayColumns(organizationId: string): readonly Column<StatementDay>[] {
  const amount = (
    id: string,
    header: string,
    usd: (day: StatementDay) => string,
    onPhone: boolean,
  ): Column<StatementDay> => ({
    id,
    header,
    meta: { figures: true, usd, digits: 'all', ...(onPhone ? {} : { hide: 'phone' as const }) },
    cell: ({ row: { original: day } }) => <Money usd={usd(day)} />,
  });
  return [
    {
      id: 'day',
      header: 'Day',
      cell: ({ row: { original: one } }) => (
        <>
          <Link
            to="/o/$organizationId/credit"
            params={{ organizationId }}
            search={{ day: one.day }}
            className="font-medium whitespace-nowrap hover:text-accent hover:underline"
          >
            {exactDay(one.day)}
          </Link>
          <Added of={one} />
        </>
      ),
    },
    amount('added', 'Added', ({ added_usd: usd }) => usd, false),
    amount('corrected', 'Corrections', ({ corrected_usd: usd }) => usd, false),
    amount('used', 'Used', ({ used_usd: usd }) => usd, true),
    amount('closing', 'Closing balance', ({ closing_balance_usd: usd }) => usd, true),
  ];
}

/** On phones, which have no space for their columns. */
function Added({ of: { added_usd: added, corrected_usd: corrected } }: { readonly of: StatementDay }) {
  const amounts = [
    { label: 'Added', usd: added },
    { label: 'Corrections', usd: corrected },
  ].filter(({ usd }) => nanoUsdOf(usd) !== 0n);
  return amounts.map(({ label, usd }) => (
    <p key={label} className="text-xs text-ink-soft @2xl:hidden">
      {label} <Money usd={usd} digits="all" />
    </p>
  ));
}

interface StatementLinesProps {
  readonly organizationId: string;
  readonly month: string;
  /** Undefined: the whole month. */
  readonly day: string | undefined;
}

export function StatementLines({ organizationId, month, day }: StatementLinesProps) {
  const lines = useInfiniteQuery(statementLinesQuery(organizationId, month, day));
  const name = day === undefined ? monthName(month) : exactDay(day);
  return (
    <Rows
      query={lines}
      rows={lines.data?.pages.flatMap(({ data }) => data)}
      caption={`Transactions of ${name}`}
      columns={[...lineColumns<StatementLine>(organizationId), BALANCE]}
      empty={`No transactions in ${name}`}
    />
  );
}

export function StatementCredits({ organizationId, month }: Omit<StatementLinesProps, 'day'>) {
  const credits = useInfiniteQuery(statementCreditsQuery(organizationId, month));
  return (
    <Rows
      query={credits}
      rows={credits.data?.pages.flatMap(({ data }) => data)}
      caption={`Credits and corrections of ${monthName(month)}`}
      columns={lineColumns(organizationId)}
      empty={`No credit was added in ${monthName(month)}`}
    />
  );
}

interface RowsProps<Row> {
  readonly query: Pick<
    ReturnType<typeof useInfiniteQuery>,
    | 'error'
    | 'data'
    | 'refetch'
    | 'hasNextPage'
    | 'isFetchingNextPage'
    | 'fetchNextPage'
    | 'isPlaceholderData'
  >;
  readonly rows: readonly Row[] | undefined;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly empty: string;
}

function Rows<Row extends StatementCredit | StatementLine>(props: RowsProps<Row>) {
  const { query, rows, caption, columns, empty } = props;
  if (blockingErrorOf(query)) {
    return <Failure error={query.error} what="statement" onRetry={() => void query.refetch()} />;
  }
  if (!rows) return <SkeletonRows />;
  if (rows.length === 0) {
    return (
      <Empty icon="wallet" title={empty}>
        Choose another month.
      </Empty>
    );
  }
  return (
    <div className="grid gap-3">
      <Table
        caption={caption}
        rows={rows}
        columns={columns}
        rowId={({ kind, reference }) => `${kind} ${reference}`}
        stale={query.isPlaceholderData}
      />
      {query.hasNextPage && (
        <Button
          className="justify-self-center"
          busy={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Load more
        </Button>
      )}
    </div>
  );
}

const KINDS = { credit: 'Credit added', correction: 'Correction', settlement: 'Generation' } as const;

function lineColumns<Line extends StatementCredit | StatementLine>(
  organizationId: string,
): readonly Column<Line>[] {
  return [
    {
      id: 'at',
      header: () => <LogTimeHeading>Date</LogTimeHeading>,
      meta: { hide: 'phone' },
      cell: ({ row: { original: line } }) => <LogTime at={line.posted_at} className="text-ink-soft" />,
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
          <p className="text-xs text-ink-faint @2xl:hidden">
            {line.kind === 'settlement' && (
              <Link
                to="/o/$organizationId/generations/$generationId"
                params={{ organizationId, generationId: line.reference }}
                className="text-accent underline"
              >
                Details
              </Link>
            )}{' '}
            <LogTime at={line.posted_at} />
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
      meta: { figures: true, usd: ({ amount_usd: usd }) => usd, digits: 'all' },
      cell: ({ row: { original: line } }) => <Money usd={line.amount_usd} />,
    },
  ];
}

const BALANCE: Column<StatementLine> = {
  id: 'balance',
  header: 'Balance after',
  meta: { figures: true, usd: ({ balance_usd: usd }) => usd, digits: 'all' },
  cell: ({ row: { original: line } }) => <Money usd={line.balance_usd} />,
};
