import type { Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client';
import { blockingErrorOf } from '../../api/transient-error';
import { count } from '../../format/count';
import { Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Money, Text, Time } from '../../ui/values';
import { otherBudgetName } from '../keys/other-budget-values';

type BudgetAlert = Result<'GET /api/organizations/{organization_id}/budget-alerts'>['data'][number];

/** The alerts about budgets that were sent; nothing without any. */
export function BudgetAlerts({ organizationId }: { readonly organizationId: string }) {
  const query = useQuery({
    queryKey: ['budget-alerts', organizationId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/budget-alerts', {
        params: { organization_id: organizationId },
        signal,
      }),
  });
  if (query.data?.data.length === 0) return null;
  return (
    <Section title="Sent budget alerts" description="The newest 100 of the last 90 days.">
      {blockingErrorOf(query) ? (
        <Failure error={query.error} what="sent budget alerts" onRetry={() => void query.refetch()} />
      ) : query.data === undefined ? (
        <SkeletonRows rows={3} />
      ) : (
        <Table
          caption="Sent budget alerts"
          rows={query.data.data}
          columns={COLUMNS}
          rowId={({ id }) => id}
          stale={query.isFetching}
        />
      )}
    </Section>
  );
}

const COLUMNS: readonly Column<BudgetAlert>[] = [
  { id: 'reached', header: 'Reached', cell: ({ row: { original } }) => <Time at={original.reached_at} /> },
  { id: 'owner', header: 'Owner', cell: ({ row: { original } }) => <Text>{original.owner_name}</Text> },
  {
    id: 'budget',
    header: 'Budget',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => <Text>{nameOf(original)}</Text>,
  },
  {
    id: 'share',
    header: 'Share',
    meta: { figures: true },
    cell: ({ row: { original } }) => `${original.share_percent}%`,
  },
  {
    id: 'amount',
    header: 'Of (USD)',
    meta: { figures: true, usd: ({ budget_usd }) => budget_usd, digits: 'all' },
    cell: ({ row: { original } }) => <Money usd={original.budget_usd} />,
  },
  {
    id: 'recipients',
    header: 'Recipients',
    meta: { hide: 'phone' },
    cell: ({ row: { original } }) => recipientsOf(original),
  },
];

function nameOf({ period, hours, model, end_users: endUsers }: BudgetAlert): string {
  const name = otherBudgetName({
    period,
    hours: hours ?? 0,
    ...(model !== null && { model }),
    ...(endUsers !== null && { per_end_user: true }),
    amount_usd: '',
  });
  return endUsers === null ? name : `${name}, reached by ${count(endUsers)}`;
}

function recipientsOf({ delivered, undelivered }: BudgetAlert): string {
  if (delivered + undelivered === 0) return 'None';
  return undelivered === 0 ? `${delivered} reached` : `${delivered} reached, ${undelivered} not reached`;
}
