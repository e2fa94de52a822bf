import { personLabel } from '@gateway/base';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { blockingErrorOf } from '../../api/transient-error';
import { keySpendQuery, organizationSpendQuery } from '../../api/budget-spend';
import { keyQuery, type Key } from '../../api/keys';
import { effectiveLimitsOf, organizationQuery } from '../../api/organizations';
import { projectQuery, useProjectNames } from '../../api/projects';
import { usePermission, useSession } from '../../api/session';
import { count } from '../../format/count';
import { Button, sectionLinkClass } from '../../ui/button';
import { Notice } from '../../ui/notice';
import { Fact, Facts, Figure, Figures, Page, Section } from '../../ui/page';
import { Failure, SkeletonRows } from '../../ui/states';
import { Id, Money, Text, Time, TimeOrNever, visible } from '../../ui/values';
import { ProjectLink } from '../projects/project-link';
import { AppliedBudgets } from './budget-use';
import { OtherBudgetFacts } from './other-budget-facts';
import { EditKey } from './edit-key';
import { KeyExpiry, KeyState } from './key-columns';
import { PreviousSecret, RotateKey } from './rotate-key';
import { RevokeKey } from './revoke-key';
import { TransferKey } from './transfer-key';
import { OneTimeSecret } from './one-time-secret';

const route = getRouteApi('/signed-in/o/$organizationId/keys/$keyId');

export function KeyPage() {
  const { organizationId, keyId } = route.useParams();
  const query = useQuery(keyQuery(organizationId, keyId));
  const can = usePermission(organizationId);
  const { member } = useSession();
  const [editing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string>();

  const failure = blockingErrorOf(query);
  if (failure || !query.data) {
    return (
      <Page title="Key">
        {failure ? (
          <Failure error={failure} what="key" onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  }
  const { key, bounds } = query.data;
  const canManage = can('keys:manage') || (can('keys:manage_own') && key.owner?.id === member.id);
  const editable = canManage && key.state !== 'revoked';
  return (
    <Page
      narrow
      title={visible(key.name)}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          <Text>{key.name}</Text>
          <KeyState of={key} />
        </span>
      }
      description={<Id>{`sk-gw-…${key.last4}`}</Id>}
      actions={
        editable &&
        !editing && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <RotateKey of={key} onRotated={setSecret} />
            {can('keys:manage') && key.kind === 'standard' && <TransferKey of={key} />}
            <RevokeKey of={key} />
          </>
        )
      }
    >
      {secret !== undefined && key.state !== 'revoked' && <OneTimeSecret secret={secret} of={key} />}
      {key.previous_secret && <PreviousSecret of={key} editable={editable} />}
      {key.state === 'expired' && (
        <Notice tone="warn" title="This key has expired">
          Requests with it are rejected. Change its expiration date to use it again.
        </Notice>
      )}
      {key.owner?.has_left && key.state === 'active' && (
        <Notice tone="warn" title="The owner has left">
          The key still works. Transfer it to another member, or revoke it.
        </Notice>
      )}
      {editing ? (
        <EditKey of={key} bounds={bounds} onDone={() => setEditing(false)} />
      ) : (
        <KeyDetails of={key} organizationId={organizationId} />
      )}
    </Page>
  );
}

function KeyDetails({ of: key, organizationId }: { readonly of: Key; readonly organizationId: string }) {
  const projectNames = useProjectNames(organizationId, [key.project_id]);
  const can = usePermission(organizationId);
  return (
    <>
      {key.activity && (
        <Figures>
          <Figure
            label="Spent today"
            note={
              key.daily_budget_usd !== null && (
                <>
                  of <Money usd={key.daily_budget_usd} digits="all" />
                </>
              )
            }
          >
            <Money usd={key.activity.spend_today_usd} />
          </Figure>
          <Figure
            label="Spent this month"
            note={
              key.monthly_budget_usd !== null && (
                <>
                  of <Money usd={key.monthly_budget_usd} digits="all" />
                </>
              )
            }
          >
            <Money usd={key.activity.spend_this_month_usd} />
          </Figure>
          <Figure label="Last used">
            <TimeOrNever at={key.activity.last_used_at} />
          </Figure>
        </Figures>
      )}
      <Section
        title="Permissions"
        actions={
          <span className="flex gap-4">
            <Link
              to="/o/$organizationId/usage"
              params={{ organizationId }}
              search={{ key: key.id }}
              className={sectionLinkClass}
            >
              View usage
            </Link>
            <Link
              to="/o/$organizationId/generations"
              params={{ organizationId }}
              search={{ key: key.id }}
              className={sectionLinkClass}
            >
              View generations
            </Link>
          </span>
        }
      >
        <Facts>
          <Fact name="Scopes">
            {key.scopes.map((scope) => (scope === 'chat' ? 'Chat' : 'Read usage')).join(', ')}
          </Fact>
          <Fact name="JSON in streams">{key.json_streaming ? 'Allowed' : 'Refused'}</Fact>
          <Fact name="Models">
            {key.allowed_models === null ? (
              'All models'
            ) : (
              <ul>
                {key.allowed_models.map((id) => (
                  <li key={id}>
                    <Id>{id}</Id>
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          <Fact name="Allowed IPs">
            {key.ip_allowlist.length === 0 ? (
              'Any'
            ) : (
              <ul>
                {key.ip_allowlist.map((address) => (
                  <li key={address}>
                    <Id>{address}</Id>
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          {(projectNames.size > 0 || key.project_id !== null) && (
            <Fact name="Project">
              {key.project_id === null ? (
                'None'
              ) : (
                <ProjectLink organizationId={organizationId} projectId={key.project_id}>
                  {projectNames.get(key.project_id) ?? key.project_id}
                </ProjectLink>
              )}
            </Fact>
          )}
          <Fact name="Expires">
            <KeyExpiry of={key} />
          </Fact>
        </Facts>
      </Section>
      <KeyLimits of={key} />
      <Section title="History">
        <Facts>
          <Fact name="Owner">
            {key.owner === null ? 'An operator' : <Text>{personLabel(key.owner)}</Text>}
          </Fact>
          <Fact name="Created">
            <Time at={key.created_at} />
          </Fact>
          {key.revoked_at !== null && (
            <Fact name="Revoked">
              <Time at={key.revoked_at} />
            </Fact>
          )}
          <Fact name="ID">
            <Id>{key.id}</Id>
          </Fact>
          {can('audit:read') && (
            <Fact name="Audit log">
              <Link
                to="/o/$organizationId/audit"
                params={{ organizationId }}
                search={{ target: key.id }}
                className="text-accent hover:underline"
              >
                View changes
              </Link>
            </Fact>
          )}
        </Facts>
      </Section>
    </>
  );
}

/** Every limit that applies to the key: its own, those of its project, and those that all keys share. */
function KeyLimits({ of: key }: { readonly of: Key }) {
  const { organization_id: organizationId, project_id: projectId } = key;
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const { data: organizationSpend } = useQuery(organizationSpendQuery(organizationId));
  const { data: keySpend } = useQuery(keySpendQuery(organizationId, key.id));
  const { data: project } = useQuery(projectQuery(organizationId, projectId));
  if (!organization) return <SkeletonRows rows={6} />;
  const shared = effectiveLimitsOf(organization);
  const owners = [
    { name: 'This key', budgets: key, spend: keySpend },
    ...(project
      ? [{ name: `Project ${visible(project.name)}`, budgets: project, spend: project.spend ?? undefined }]
      : []),
    { name: 'Organization, all keys together', budgets: shared, spend: organizationSpend },
  ];
  return (
    <Section title="Limits" description="A request must fit each of them.">
      <Facts>
        {KEY_COUNTS.map(({ field, label }) => (
          <Fact key={field} name={label}>
            <AppliedCount own={key[field]} shared={shared[field]} />
          </Fact>
        ))}
        <AppliedBudgets owners={owners} />
        <OtherBudgetFacts {...{ organizationId, keyId: key.id, owner: 'This key', budgets: key.budgets }} />
        {project && (
          <OtherBudgetFacts
            {...{
              organizationId,
              projectId: project.id,
              owner: `Project ${visible(project.name)}`,
              budgets: project.budgets,
            }}
          />
        )}
        <OtherBudgetFacts
          {...{
            organizationId,
            owner: 'Organization, all keys together',
            budgets: organization.limits.budgets,
          }}
        />
      </Facts>
    </Section>
  );
}

const KEY_COUNTS = [
  { field: 'requests_per_minute', label: 'Requests per minute' },
  { field: 'tokens_per_minute', label: 'Tokens per minute' },
  { field: 'concurrency', label: 'Concurrent requests' },
] as const;

function AppliedCount({ own, shared }: { readonly own: number | null; readonly shared: number | null }) {
  if (own === null) return shared === null ? 'No limit' : `${count(shared)}, shared by all keys`;
  return shared === null ? count(own) : `${count(own)}, and ${count(shared)} shared by all keys`;
}
