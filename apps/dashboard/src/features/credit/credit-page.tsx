import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { liveQuery } from '../../api/balance';
import { useMay } from '../../api/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Notice } from '../../ui/notice';
import { Figure, Figures, Page } from '../../ui/page';
import { Failure, Skeleton } from '../../ui/states';
import { Money, Time } from '../../ui/values';
import { AddCreditForm } from './add-credit-form';
import { CorrectCredit } from './correct-credit';
import { CreditAlert } from './credit-alert';
import { Statement } from './statement';

const route = getRouteApi('/signed-in/o/$organizationId/credit');

export function CreditPage() {
  const { organizationId } = route.useParams();
  const { month } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay(organizationId);
  return (
    <Page
      title="Credit"
      description="US dollars, exact to the nano-dollar. Requests are paid for before they run."
      actions={may('platform:credit') && <OperatorActions organizationId={organizationId} />}
    >
      <LiveBalance organizationId={organizationId} />
      <Statement
        organizationId={organizationId}
        month={month}
        onMonth={(chosen) => void navigate({ search: chosen === undefined ? {} : { month: chosen } })}
      />
      <CreditAlert organizationId={organizationId} changeable={may('credit:alerts')} />
    </Page>
  );
}

function LiveBalance({ organizationId }: { readonly organizationId: string }) {
  const live = useQuery(liveQuery(organizationId));
  if (live.error && !live.data) {
    return <Failure error={live.error} what="the balance" onRetry={() => void live.refetch()} />;
  }
  if (!live.data) return <Skeleton className="h-20" />;
  const { balance, running_low: low, spend_today_usd: spendToday } = live.data;
  return (
    <>
      {low && (
        <Notice tone="warn" title="Credit is running low">
          Below <Money usd={low.threshold_usd} /> since <Time at={low.since} />. When nothing is available,
          requests are refused with 402.
        </Notice>
      )}
      {live.error && (
        <Notice tone="warn">These figures are not live right now: the gateway does not answer.</Notice>
      )}
      <Figures>
        <Figure label="Available" note="balance less what is held">
          <Money usd={balance.available_usd} />
        </Figure>
        <Figure label="Held" note="for running requests">
          <Money usd={balance.reserved_usd} />
        </Figure>
        <Figure label="Balance" note="added less used">
          <Money usd={balance.balance_usd} />
        </Figure>
        <Figure label="Spent today" note="since 00:00 UTC">
          <Money usd={spendToday} />
        </Figure>
      </Figures>
    </>
  );
}

function OperatorActions({ organizationId }: { readonly organizationId: string }) {
  const [adding, setAdding] = useState(false);
  const [correcting, setCorrecting] = useState(false);
  return (
    <>
      <Button onClick={() => setCorrecting(true)}>Correct</Button>
      <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
        Add credit
      </Button>
      <Dialog
        open={adding}
        onOpenChange={setAdding}
        title="Add credit"
        description="It can be spent at once."
      >
        <AddCreditForm
          organizationId={organizationId}
          onAdded={() => setAdding(false)}
          onCancel={() => setAdding(false)}
        />
      </Dialog>
      <Dialog
        open={correcting}
        onOpenChange={setCorrecting}
        title="Correct credit"
        description="Takes back what was added in error. You see what it leaves before it is booked."
      >
        <CorrectCredit organizationId={organizationId} onDone={() => setCorrecting(false)} />
      </Dialog>
    </>
  );
}
