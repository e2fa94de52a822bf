import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { organizationSpendQuery } from '../../api/budget-spend';
import { organizationQuery, type Organization } from '../../api/organizations';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { count } from '../../format/count';
import { Button } from '../../ui/button';
import { Fact, Facts, Page, Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Id, Money, Text, Time } from '../../ui/values';
import { BudgetUse } from '../keys/budget-use';
import { BUDGETS } from '../keys/budgets';
import { OtherBudgetFacts } from '../keys/other-budget-facts';
import { CapsForm, COUNTS, type Caps } from './caps-form';
import { TargetRules } from './target-rules';
import { ElasticHolds } from './elastic-holds';
import { UsageTags } from './usage-tags';
import { OperatorContact } from '../../app/operator-contact';
import { RenameOrganization } from './rename-organization';

const route = getRouteApi('/signed-in/o/$organizationId/limits');

export function LimitsPage() {
  const { organizationId } = route.useParams();
  const query = useQuery(organizationQuery(organizationId));
  const failure = blockingErrorOf(query);
  const can = usePermission(organizationId);
  const [editing, setEditing] = useState<Caps>();
  const stopEditing = () => setEditing(undefined);
  return (
    <Page
      narrow
      title="Limits"
      description="Shared by all keys. Keys can have lower limits."
      actions={
        can('organization:limits') &&
        query.data &&
        !editing && <Button onClick={() => setEditing('limits')}>Edit</Button>
      }
    >
      {failure ? (
        <Failure error={failure} what="limits" onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={6} />
      ) : editing ? (
        <CapsForm caps={editing} organization={query.data} onDone={stopEditing} />
      ) : (
        <>
          <Section
            title="Limits"
            description={
              <>
                {can('organization:limits')
                  ? 'A limit can be raised to its ceiling here.'
                  : 'Owners and admins can raise a limit to its ceiling.'}{' '}
                To raise a ceiling, contact <OperatorContact />.
              </>
            }
          >
            <LimitFacts of={query.data} />
          </Section>
          {can('platform:organizations') && (
            <Section
              title="Ceilings"
              description="The upper bounds of the limits. Only operators can change them."
              actions={<Button onClick={() => setEditing('ceilings')}>Change ceilings</Button>}
            >
              <CeilingFacts of={query.data} />
            </Section>
          )}
          <TargetRules organization={query.data} />
          <ElasticHolds organization={query.data} canChange={can('organization:limits')} />
          <UsageTags organization={query.data} />
          <Section
            title="Organization"
            actions={can('organization:limits') && <RenameOrganization organization={query.data} />}
          >
            <Facts>
              <Fact name="Name">
                <Text>{query.data.name}</Text>
              </Fact>
              <Fact name="ID">
                <Id>{query.data.id}</Id>
              </Fact>
              <Fact name="Created">
                <Time at={query.data.created_at} />
              </Fact>
            </Facts>
          </Section>
        </>
      )}
    </Page>
  );
}

/** Each limit with its ceiling. Where there is no limit, the ceiling applies. */
function LimitFacts({ of: { id, limits, ceilings } }: { readonly of: Organization }) {
  const { data: spend } = useQuery(organizationSpendQuery(id));
  const budget = (usd: string) => <Money usd={usd} digits="all" />;
  return (
    <Facts>
      {COUNTS.map(({ field, label }) => (
        <Fact key={field} name={label}>
          <WithCeiling limit={limits[field]} ceiling={ceilings[field]} show={count} />
        </Fact>
      ))}
      {BUDGETS.map(({ field, label, reset, spend: period }) => {
        const applied = limits[field] ?? ceilings[field];
        return (
          <Fact key={field} name={label}>
            <WithCeiling limit={limits[field]} ceiling={ceilings[field]} show={budget} />
            {applied !== null && `. ${reset}`}
            {applied !== null && spend && (
              <BudgetUse label={label} budget={applied} spent={spend[period]} held={spend.held_usd} />
            )}
          </Fact>
        );
      })}
      <OtherBudgetFacts organizationId={id} owner="All keys together" budgets={limits.budgets} />
      <Fact name="Multiple completions">
        {limits.multiple_completions ? 'Allowed' : 'Not allowed'}
        {!ceilings.multiple_completions && <Ceiling>an operator can allow them</Ceiling>}
      </Fact>
    </Facts>
  );
}

interface WithCeilingProps<Value> {
  readonly limit: Value | null;
  readonly ceiling: Value | null;
  readonly show: (value: Value) => ReactNode;
}

function WithCeiling<Value>({ limit, ceiling, show }: WithCeilingProps<Value>) {
  if (ceiling === null) return limit === null ? 'No limit' : show(limit);
  return (
    <>
      {show(limit ?? ceiling)}
      <Ceiling>{limit === null ? 'the ceiling' : <>ceiling {show(ceiling)}</>}</Ceiling>
    </>
  );
}

function Ceiling({ children }: { readonly children: ReactNode }) {
  return <span className="text-ink-faint"> ({children})</span>;
}

function CeilingFacts({ of: { ceilings } }: { readonly of: Organization }) {
  const { multiple_completions: multiple } = ceilings;
  const none = 'No ceiling';
  return (
    <Facts>
      {COUNTS.map(({ field, label }) => (
        <Fact key={field} name={label}>
          {ceilings[field] === null ? none : count(ceilings[field])}
        </Fact>
      ))}
      {BUDGETS.map(({ field, label }) => (
        <Fact key={field} name={label}>
          {ceilings[field] === null ? none : <Money usd={ceilings[field]} digits="all" />}
        </Fact>
      ))}
      <Fact name="Multiple completions">{multiple ? 'Can be allowed' : 'Cannot be allowed'}</Fact>
    </Facts>
  );
}
