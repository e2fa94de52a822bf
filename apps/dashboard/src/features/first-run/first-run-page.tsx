import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { organizationsQuery } from '../../api/organizations';
import { useCurrentOrganization } from '../../app/current-organization';
import { buttonClass } from '../../ui/button';
import { cx } from '../../ui/cx';
import { Icon } from '../../ui/icons';
import { Page } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Text } from '../../ui/values';
import { AddCreditForm } from '../credit/add-credit-form';
import { CreateOrganizationForm } from '../operator/create-organization-form';
import { FirstKey } from './first-key';
import { FirstRequest } from './first-request';
import { useSteps } from './steps';

/** Guides from an empty gateway to a first response. Steps are complete when the server's state shows it. */
export function FirstRunPage() {
  const organizations = useQuery(organizationsQuery);
  const { organization, isLoading } = useCurrentOrganization();
  const { steps, error, retry } = useSteps(organization?.id);
  const [secret, setSecret] = useState<string>();

  if (organizations.error || !organizations.data || isLoading) {
    return (
      <Page narrow title="Setup">
        {organizations.error ? (
          <Failure
            error={organizations.error}
            what="organizations"
            onRetry={() => void organizations.refetch()}
          />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  }
  // Until the steps are known, the page must not offer to add credit again.
  if (organization && !steps) {
    return (
      <Page narrow title="Setup">
        {error ? <Failure error={error} what="setup progress" onRetry={retry} /> : <SkeletonRows />}
      </Page>
    );
  }
  const done = [
    organization !== undefined,
    steps?.hasCredit ?? false,
    steps?.hasKey ?? false,
    steps?.hasRequest ?? false,
  ];
  const current = done.indexOf(false);
  const step = (number: number, title: string, children: ReactNode, summary?: ReactNode) => (
    <Step
      number={number + 1}
      title={title}
      done={done[number] === true}
      current={current === number}
      summary={summary}
    >
      {children}
    </Step>
  );

  return (
    <Page narrow title="Set up your gateway" description="Four steps to your first response.">
      <ol className="grid">
        {step(
          0,
          'Create an organization',
          <CreateOrganizationForm />,
          organization && <Text>{organization.name}</Text>,
        )}
        {step(
          1,
          'Add credit',
          organization && <AddCreditForm organizationId={organization.id} />,
          'Requests are paid from prepaid credit.',
        )}
        {step(
          2,
          'Create a key',
          organization && <FirstKey organizationId={organization.id} onCreated={setSecret} />,
        )}
        {step(
          3,
          'Send a request',
          organization && <FirstRequest organizationId={organization.id} secret={secret} />,
        )}
      </ol>
      {current === -1 && organization && (
        <div className="grid justify-items-start gap-3 rounded-lg border border-accent/40 bg-accent-soft p-5">
          <p className="font-medium">Your first request succeeded.</p>
          <Link
            to="/o/$organizationId"
            params={{ organizationId: organization.id }}
            className={buttonClass('primary')}
          >
            Go to overview
          </Link>
        </div>
      )}
    </Page>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly current: boolean;
  readonly summary?: ReactNode;
  readonly children: ReactNode;
}

function Step({ number, title, done, current, summary, children }: StepProps) {
  return (
    <li
      className="grid grid-cols-[2rem_minmax(0,1fr)] gap-x-3 border-t border-line py-5"
      aria-current={current ? 'step' : undefined}
    >
      <span
        className={cx(
          'grid size-7 place-items-center rounded-full text-sm font-medium',
          done
            ? 'bg-accent text-on-accent'
            : current
              ? 'border-2 border-accent text-accent'
              : 'border border-line-strong text-ink-faint',
        )}
      >
        {done ? <Icon name="check" /> : number}
      </span>
      <div className="grid gap-3">
        <div>
          <h2 className={cx('text-base leading-7 font-semibold', !done && !current && 'text-ink-faint')}>
            {title}
            {done && <span className="sr-only"> (done)</span>}
          </h2>
          {summary !== undefined && (done || current) && <p className="text-sm text-ink-soft">{summary}</p>}
        </div>
        {current && children}
      </div>
    </li>
  );
}
