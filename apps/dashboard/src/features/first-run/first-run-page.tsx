import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { organizationsQuery, type Organization } from '../../api/organizations';
import { chooseOrganization } from '../../app/current-organization';
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

/** From an empty gateway to a first answer, in four steps. Each is done when the server says so, not when it was clicked. */
export function FirstRunPage() {
  const organizations = useQuery(organizationsQuery);
  const organization = chosenOf(organizations.data);
  const { steps, error, askAgain } = useSteps(organization?.id);
  const [secret, setSecret] = useState<string>();

  if (organizations.error || !organizations.data) {
    return (
      <Page narrow title="Set up">
        {organizations.error ? (
          <Failure
            error={organizations.error}
            what="the organizations"
            onRetry={() => void organizations.refetch()}
          />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  }
  // Guessing would ask for credit that is there already.
  if (organization && !steps) {
    return (
      <Page narrow title="Set up">
        {error ? (
          <Failure error={error} what="how far the set-up has come" onRetry={askAgain} />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  }
  const done = [
    organization !== undefined,
    steps?.hasCredit ?? false,
    // A key from before cannot be seen any more, but it is there.
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
    <Page narrow title="Set up your gateway" description="Four steps to a first answer.">
      <ol className="grid">
        {step(
          0,
          'An organization',
          <CreateOrganizationForm />,
          organization && <Text>{organization.name}</Text>,
        )}
        {step(
          1,
          'Credit',
          organization && <AddCreditForm organizationId={organization.id} />,
          'Requests are paid for from it before they run.',
        )}
        {step(
          2,
          'A key',
          organization && <FirstKey organizationId={organization.id} onCreated={setSecret} />,
        )}
        {step(
          3,
          'A first request',
          organization && <FirstRequest organizationId={organization.id} secret={secret} />,
        )}
      </ol>
      {current === -1 && organization && (
        <div className="grid justify-items-start gap-3 rounded-lg border border-accent/40 bg-accent-soft p-5">
          <p className="font-medium">The first answer is here, and paid for.</p>
          <Link
            to="/o/$organizationId"
            params={{ organizationId: organization.id }}
            className={buttonClass('primary')}
          >
            To the overview
          </Link>
        </div>
      )}
    </Page>
  );
}

function chosenOf(organizations: readonly Organization[] | undefined): Organization | undefined {
  const id = chooseOrganization(organizations ?? []);
  return organizations?.find((organization) => organization.id === id);
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
