import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { organizationSpendQuery } from '../../api/budget-spend';
import { keysQuery } from '../../api/keys';
import { effectiveLimitsOf, organizationQuery } from '../../api/organizations';
import { projectQuery, type Project } from '../../api/projects';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { NotFoundPage } from '../../app/page-states';
import { Button, sectionLinkClass } from '../../ui/button';
import { LoadMore, ShownCount } from '../../ui/load-more';
import { Badge } from '../../ui/notice';
import { Fact, Facts, Figure, Figures, Page, Section } from '../../ui/page';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table } from '../../ui/table';
import { Id, Money, Text, Time, visible } from '../../ui/values';
import { AppliedBudgets } from '../keys/budget-use';
import { keyColumns } from '../keys/key-columns';
import { OtherBudgetFacts } from '../keys/other-budget-facts';
import { SpendOfBudget } from '../keys/spend-of-budget';
import { ArchiveProject } from './archive-project';
import { PROJECT_BUDGETS } from './project-budgets';
import { ProjectDialog } from './project-dialog';

const route = getRouteApi('/signed-in/o/$organizationId/projects/$projectId');

/** The budgets of a project with what counts against them, its spend and its keys. */
export function ProjectPage() {
  const { organizationId, projectId } = route.useParams();
  const query = useQuery(projectQuery(organizationId, projectId));
  const canManage = usePermission(organizationId)('organization:limits');
  const [editing, setEditing] = useState(false);
  const failure = blockingErrorOf(query);
  if (query.data === null) return <NotFoundPage />;
  if (failure || !query.data) {
    return (
      <Page title="Project">
        {failure ? (
          <Failure error={failure} what="project" onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows />
        )}
      </Page>
    );
  }
  const project = query.data;
  return (
    <Page
      title={visible(project.name)}
      heading={
        <span className="flex flex-wrap items-center gap-3">
          <Text>{project.name}</Text>
          {project.archived_at !== null && <Badge>Archived</Badge>}
        </span>
      }
      description="Keys of a project share its budgets."
      actions={
        canManage &&
        project.archived_at === null && (
          <>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <ArchiveProject of={project} />
          </>
        )
      }
    >
      <ProjectSpend of={project} />
      <ProjectBudgets of={project} />
      <ProjectKeys of={project} />
      <ProjectHistory of={project} />
      {editing && (
        <ProjectDialog organizationId={organizationId} project={project} onClose={() => setEditing(false)} />
      )}
    </Page>
  );
}

function ProjectSpend({ of: project }: { readonly of: Project }) {
  return (
    <Figures>
      {PROJECT_BUDGETS.map(({ id, label, spend, budget }) => (
        <Figure
          key={id}
          label={label}
          note={
            project[budget] !== null && (
              <>
                of <Money usd={project[budget]} digits="all" />
              </>
            )
          }
        >
          <SpendOfBudget spend={project.spend?.[spend]} budget={null} />
        </Figure>
      ))}
    </Figures>
  );
}

function ProjectBudgets({ of: project }: { readonly of: Project }) {
  const { organization_id: organizationId, id: projectId } = project;
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const { data: spend } = useQuery(organizationSpendQuery(organizationId));
  const shared = 'Organization, all keys together';
  return (
    <Section title="Budgets" description="A request must fit each of them, and the limits of its key.">
      {!organization ? (
        <SkeletonRows rows={4} />
      ) : (
        <Facts>
          <AppliedBudgets
            owners={[
              { name: 'This project', budgets: project, spend: project.spend ?? undefined },
              { name: shared, budgets: effectiveLimitsOf(organization), spend },
            ]}
          />
          <OtherBudgetFacts
            {...{ organizationId, projectId, owner: 'This project', budgets: project.budgets }}
          />
          <OtherBudgetFacts {...{ organizationId, owner: shared, budgets: organization.limits.budgets }} />
        </Facts>
      )}
    </Section>
  );
}

function ProjectKeys({ of: { organization_id: organizationId, id: project } }: { readonly of: Project }) {
  const keys = useInfiniteQuery(keysQuery(organizationId, { state: 'active', project_id: project }));
  const shown = keys.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Section
      title="Active keys"
      actions={
        <Link
          to="/o/$organizationId/keys"
          params={{ organizationId }}
          search={{ project }}
          className={sectionLinkClass}
        >
          View keys
        </Link>
      }
    >
      {blockingErrorOf(keys) ? (
        <Failure error={keys.error} what="keys" onRetry={() => void keys.refetch()} />
      ) : keys.isPending ? (
        <SkeletonRows />
      ) : shown.length === 0 ? (
        <Empty icon="key" title="No active keys">
          Choose the project when you create or edit a key.
        </Empty>
      ) : (
        <Table
          caption="Active keys"
          rows={shown}
          columns={keyColumns(organizationId)}
          rowId={({ id }) => id}
          partial={keys.hasNextPage}
        />
      )}
      <ShownCount shown={shown.length} total={keys.data?.pages[0]?.total} />
      <LoadMore of={keys} />
    </Section>
  );
}

function ProjectHistory({ of: project }: { readonly of: Project }) {
  const { organization_id: organizationId, id } = project;
  const can = usePermission(organizationId);
  const params = { organizationId };
  return (
    <Section
      title="History"
      actions={
        <span className="flex gap-4">
          <Link
            to="/o/$organizationId/usage"
            {...{ params, search: { project: id } }}
            className={sectionLinkClass}
          >
            View usage
          </Link>
          <Link
            to="/o/$organizationId/generations"
            {...{ params, search: { project: id } }}
            className={sectionLinkClass}
          >
            View generations
          </Link>
          {can('audit:read') && (
            <Link
              to="/o/$organizationId/audit"
              {...{ params, search: { target: id } }}
              className={sectionLinkClass}
            >
              View changes
            </Link>
          )}
        </span>
      }
    >
      <Facts>
        <Fact name="Created">
          <Time at={project.created_at} />
        </Fact>
        {project.archived_at !== null && (
          <Fact name="Archived">
            <Time at={project.archived_at} />
          </Fact>
        )}
        <Fact name="ID">
          <Id>{id}</Id>
        </Fact>
      </Facts>
    </Section>
  );
}
