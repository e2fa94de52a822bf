import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { blockingErrorOf } from '../../api/transient-error';
import { count, errorRate } from '../../format/count';
import { nanoUsdOf } from '../../format/money';
import { Page, Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Day, Id, Money, Text } from '../../ui/values';
import { StaleFigures } from '../credit/stale-figures';
import { Margin, marginNote } from './margin';
import { platformUsage } from './platform-figures';

type Usage = Result<'GET /api/operator/usage'>;
type OfDay = Usage['days'][number];
type OfModel = Usage['models'][number];
type OfProvider = Usage['providers'][number];

/** The usage and margin of all organizations by model, provider and day. */
export function PlatformUsagePage() {
  const query = useQuery(platformUsage);
  return (
    <Page title="Platform usage" description="All organizations, the last 30 UTC days.">
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="platform usage" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows />
      ) : query.data.days.length === 0 ? (
        <Empty icon="chart" title="No usage yet">
          Requests of all organizations appear here within seconds.
        </Empty>
      ) : (
        <>
          <StaleFigures of={query} />
          <Section title="By model">
            <Table
              caption="By model"
              rows={query.data.models}
              columns={[MODEL, ...columnsFor<OfModel>(query.data.models)]}
              rowId={({ model_id: id }) => id}
              middle
            />
          </Section>
          <Section title="By provider" description="The last provider that each request called.">
            <Table
              caption="By provider"
              rows={query.data.providers}
              columns={[PROVIDER, ...columnsFor<OfProvider>(query.data.providers)]}
              rowId={({ provider }) => provider ?? ''}
              middle
            />
          </Section>
          <Section title="By day">
            <Table
              caption="By day"
              rows={query.data.days}
              columns={[DAY, ...columnsFor<OfDay>(query.data.days)]}
              rowId={({ day }) => day}
              middle
            />
          </Section>
        </>
      )}
    </Page>
  );
}

const MODEL: Column<OfModel> = {
  id: 'model',
  header: 'Model',
  accessorFn: ({ model_id: id }) => id,
  cell: ({ row }) => <Id>{row.original.model_id}</Id>,
};

const PROVIDER: Column<OfProvider> = {
  id: 'provider',
  header: 'Provider',
  accessorFn: ({ provider }) => provider ?? '',
  cell: ({ row: { original: one } }) =>
    one.provider === null ? 'None was called' : <Text>{one.provider}</Text>,
};

const DAY: Column<OfDay> = {
  id: 'day',
  header: 'Day (UTC)',
  accessorFn: ({ day }) => day,
  cell: ({ row }) => <Day on={row.original.day} />,
};

function columnsFor<Row extends OfDay | OfModel | OfProvider>(rows: readonly Row[]): readonly Column<Row>[] {
  const spendOf = ({ spend_usd: spend }: Row) => Number(nanoUsdOf(spend));
  const most = Math.max(...rows.map(spendOf));
  return [
    {
      id: 'spend',
      header: 'Spend',
      accessorFn: spendOf,
      meta: { figures: true, usd: ({ spend_usd: spend }) => spend },
      cell: ({ row: { original: one } }) => <Money usd={one.spend_usd} />,
    },
    {
      id: 'share',
      header: () => <span className="sr-only">Compared with the highest</span>,
      enableSorting: false,
      meta: { hide: 'phone' },
      // The amount is next to it.
      cell: ({ row: { original: one } }) => (
        <div aria-hidden className="h-2 w-full min-w-20 rounded-sm bg-sunken">
          <div
            className="h-full rounded-sm bg-accent"
            style={{ width: most > 0 ? `${(spendOf(one) / most) * 100}%` : 0 }}
          />
        </div>
      ),
    },
    {
      id: 'margin',
      header: 'Margin',
      accessorFn: ({ margin }) =>
        margin === null ? Number.NEGATIVE_INFINITY : Number(nanoUsdOf(margin.margin_usd)),
      meta: { figures: true },
      cell: ({ row: { original: one } }) => (
        <>
          {one.margin ? <Margin of={one.margin} /> : '—'}
          <p className="text-xs text-ink-faint">{marginNote(one.margin, one.spend_usd)}</p>
        </>
      ),
    },
    {
      id: 'requests',
      header: 'Requests',
      accessorFn: ({ requests }) => requests,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: one } }) => count(one.requests),
    },
    {
      id: 'errors',
      header: 'Error rate',
      accessorFn: ({ errors, requests }) => errors / requests,
      meta: { figures: true, hide: 'phone' },
      cell: ({ row: { original: one } }) => errorRate(one) ?? '—',
    },
  ];
}
