import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { liveQuery } from '../../api/balance';
import { modelLabel } from '../../api/models';
import { organizationQuery } from '../../api/organizations';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { rangeOf, usageQuery } from '../../api/usage';
import { count } from '../../format/count';
import { buttonClass, sectionLinkClass } from '../../ui/button';
import { Notice } from '../../ui/notice';
import { Figure, Figures, Page, Section } from '../../ui/page';
import { Failure, Skeleton } from '../../ui/states';
import { Money, Text, visible } from '../../ui/values';
import { StaleFigures } from '../credit/stale-figures';
import { LazyUsageChart } from '../usage/lazy-usage-chart';
import { LastDays } from './last-days';
import { LatestGenerations } from './latest-generations';
import { NextStep } from './next-step';
import { OperatorContact } from '../../app/operator-contact';

const route = getRouteApi('/signed-in/o/$organizationId/');

const RANGE = '30d';

export function OverviewPage() {
  const { organizationId } = route.useParams();
  const organization = useQuery(organizationQuery(organizationId));
  const can = usePermission(organizationId);
  const name = organization.data?.name ?? '';
  if (blockingErrorOf(organization)) {
    return (
      <Page title="Overview">
        <Failure error={organization.error} what="organization" onRetry={() => void organization.refetch()} />
      </Page>
    );
  }
  return (
    <Page
      title={name === '' ? 'Overview' : visible(name)}
      heading={name === '' ? <Skeleton className="h-7 w-48" /> : <Text>{name}</Text>}
      actions={
        can('keys:manage_own') && (
          <Link
            to="/o/$organizationId/keys/new"
            params={{ organizationId }}
            className={buttonClass('secondary')}
          >
            Create key
          </Link>
        )
      }
    >
      {organization.data?.suspended && (
        <Notice tone="bad" title="This organization is suspended">
          All requests with its keys fail with 403.{' '}
          {organization.data.suspended_reason !== null && (
            <>
              Reason: <Text>{organization.data.suspended_reason}</Text>.{' '}
            </>
          )}
          Contact <OperatorContact /> to resume it.
        </Notice>
      )}
      <NextStep organizationId={organizationId} />
      {can('credit:read') && <LiveFigures organizationId={organizationId} />}
      {can('usage:read') && <LastDays organizationId={organizationId} />}
      {can('usage:read') && <Spend organizationId={organizationId} />}
      {can('usage:read') && <LatestGenerations organizationId={organizationId} />}
    </Page>
  );
}

function LiveFigures({ organizationId }: { readonly organizationId: string }) {
  const live = useQuery(liveQuery(organizationId));
  if (live.error && !live.data) {
    return <Failure error={live.error} what="balance" onRetry={() => void live.refetch()} />;
  }
  if (!live.data) return <Skeleton className="h-20" />;
  const { balance, spend_today_usd: spendToday, requests_today: requestsToday, low_balance: low } = live.data;
  return (
    <>
      {low && (
        <Notice
          tone="warn"
          title="Low balance"
          action={
            <Link
              to="/o/$organizationId/credit"
              params={{ organizationId }}
              className={buttonClass('secondary', true)}
            >
              View credit
            </Link>
          }
        >
          <Money usd={balance.available_usd} digits="cents" /> available, below the threshold of{' '}
          <Money usd={low.threshold_usd} digits="all" />.
        </Notice>
      )}
      <StaleFigures of={live} />
      <Figures>
        <Figure
          label="Available"
          note={
            <>
              <Money usd={balance.reserved_usd} /> held for requests in progress
            </>
          }
        >
          <Money usd={balance.available_usd} digits="cents" />
        </Figure>
        <Figure label="Spent today" note="Since 00:00 UTC">
          <Money usd={spendToday} />
        </Figure>
        <Figure label="Requests today" note="Since 00:00 UTC">
          {count(requestsToday)}
        </Figure>
      </Figures>
    </>
  );
}

function Spend({ organizationId }: { readonly organizationId: string }) {
  const range = rangeOf({ range: RANGE });
  const usage = useQuery(usageQuery(organizationId, { ...range, split_by: 'model' }));
  return (
    <Section
      title="Spend by model"
      description="Last 30 days, by UTC day."
      actions={
        <Link to="/o/$organizationId/usage" params={{ organizationId }} className={sectionLinkClass}>
          View usage
        </Link>
      }
    >
      {blockingErrorOf(usage) ? (
        <Failure error={usage.error} what="usage" onRetry={() => void usage.refetch()} />
      ) : !usage.data ? (
        <Skeleton className="h-56" />
      ) : usage.data.totals.requests === 0 ? (
        <p className="py-8 text-center text-sm text-ink-soft">No requests in the last 30 days.</p>
      ) : (
        <LazyUsageChart series={usage.data} measure="spend" split="model" nameOf={modelLabel} />
      )}
    </Section>
  );
}
