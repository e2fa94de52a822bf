import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { liveQuery } from '../../api/balance';
import { usePermission } from '../../api/session';
import { omitUndefined } from '../../app/search';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Notice } from '../../ui/notice';
import { Figure, Figures, Page } from '../../ui/page';
import { Failure, Skeleton } from '../../ui/states';
import { Money, Time } from '../../ui/values';
import { AddCreditForm } from './add-credit-form';
import { RemoveCredit } from './remove-credit';
import { BudgetAlerts } from './budget-alerts';
import { CreditAlert } from './credit-alert';
import { StaleFigures } from './stale-figures';
import { Statement } from './statement';

const route = getRouteApi('/signed-in/o/$organizationId/credit');

export function CreditPage() {
  const { organizationId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const can = usePermission(organizationId);
  return (
    <Page
      title="Credit"
      description="Prepaid credit in US dollars."
      actions={can('platform:credit') && <OperatorActions />}
    >
      <LiveBalance organizationId={organizationId} />
      <CreditAlert organizationId={organizationId} editable={can('credit:alerts')} />
      <BudgetAlerts organizationId={organizationId} />
      <Statement
        organizationId={organizationId}
        search={search}
        onSearch={(changed) => void navigate({ search: changed, resetScroll: false })}
      />
    </Page>
  );
}

function LiveBalance({ organizationId }: { readonly organizationId: string }) {
  const live = useQuery(liveQuery(organizationId));
  if (live.error && !live.data) {
    return <Failure error={live.error} what="balance" onRetry={() => void live.refetch()} />;
  }
  if (!live.data) return <Skeleton className="h-20" />;
  const { balance, low_balance: low, spend_today_usd: spendToday } = live.data;
  return (
    <>
      {low && (
        <Notice tone="warn" title="Low balance">
          Below <Money usd={low.threshold_usd} digits="all" /> since <Time at={low.since} />. Requests fail
          with 402 when the balance is used up.
        </Notice>
      )}
      <StaleFigures of={live} />
      <Figures>
        <Figure label="Available" note="Balance minus held">
          <Money usd={balance.available_usd} digits="cents" />
        </Figure>
        <Figure label="Held" note="For requests in progress">
          <Money usd={balance.reserved_usd} />
        </Figure>
        <Figure label="Balance" note="Credits minus usage">
          <Money usd={balance.balance_usd} digits="cents" />
        </Figure>
        <Figure label="Spent today" note="Since 00:00 UTC">
          <Money usd={spendToday} />
        </Figure>
      </Figures>
    </>
  );
}

function OperatorActions() {
  const { organizationId } = route.useParams();
  const { action } = route.useSearch();
  const navigate = route.useNavigate();
  // In the address, so that the command palette opens it.
  const adding = action === 'add';
  const setAdding = (open: boolean) =>
    void navigate({
      // The dialog closes later than its form is submitted, so the search may have changed since.
      search: (current) => omitUndefined({ ...current, action: open ? ('add' as const) : undefined }),
      replace: true,
    });
  const [removing, setRemoving] = useState(false);
  return (
    <>
      <Button onClick={() => setRemoving(true)}>Remove credit</Button>
      <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
        Add credit
      </Button>
      <Dialog open={adding} onOpenChange={setAdding} title="Add credit" description="Available immediately.">
        <AddCreditForm
          organizationId={organizationId}
          onAdded={() => setAdding(false)}
          onCancel={() => setAdding(false)}
        />
      </Dialog>
      <Dialog
        open={removing}
        onOpenChange={setRemoving}
        title="Remove credit"
        description="Takes back credit that was added by mistake. Recorded as a correction."
      >
        <RemoveCredit organizationId={organizationId} onDone={() => setRemoving(false)} />
      </Dialog>
    </>
  );
}
