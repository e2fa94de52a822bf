import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { projectsQuery, type Project, type ProjectState } from '../../api/projects';
import { usePermission } from '../../api/session';
import { blockingErrorOf } from '../../api/transient-error';
import { nanoUsdOf } from '../../format/money';
import { Button } from '../../ui/button';
import { LoadMore } from '../../ui/load-more';
import { Page } from '../../ui/page';
import { SegmentedControl } from '../../ui/segmented-control';
import { Empty, Failure, SkeletonRows } from '../../ui/states';
import { Table, type Column } from '../../ui/table';
import { Id, visible } from '../../ui/values';
import { SpendOfBudget } from '../keys/spend-of-budget';
import { ArchiveProject } from './archive-project';
import { PROJECT_BUDGETS } from './project-budgets';
import { ProjectDialog } from './project-dialog';
import { ProjectLink } from './project-link';

const route = getRouteApi('/signed-in/o/$organizationId/projects');

const STATES = [
  { value: 'active', label: 'Active' },
  { value: 'archived', label: 'Archived' },
] as const;

export function ProjectsPage() {
  const { organizationId } = route.useParams();
  const { show = 'active' } = route.useSearch();
  const navigate = route.useNavigate();
  const canManage = usePermission(organizationId)('organization:limits');
  const [creating, setCreating] = useState(false);
  const query = useInfiniteQuery(projectsQuery(organizationId, show));
  const projects = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const create = canManage && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      Create project
    </Button>
  );
  return (
    <Page
      title="Projects"
      description="Keys of a project share its budgets. Spend is by UTC day and month."
      actions={create}
    >
      <div className="grid gap-3">
        <SegmentedControl<ProjectState>
          label="Status"
          options={STATES}
          value={show}
          onChange={(value) =>
            void navigate({ search: value === 'active' ? {} : { show: value }, replace: true })
          }
        />
        {blockingErrorOf(query) ? (
          <Failure error={query.error} what="projects" onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <SkeletonRows />
        ) : projects.length === 0 ? (
          <Empty icon="layers" title={show === 'active' ? 'No projects yet' : 'No archived projects'}>
            {show === 'active'
              ? 'Create one, then choose it when you create or edit a key.'
              : 'A project without active keys can be archived. Its usage stays.'}
          </Empty>
        ) : (
          <Table
            middle
            caption="Projects"
            rows={projects}
            columns={columnsOf(organizationId, canManage && show === 'active')}
            rowId={({ id }) => id}
            stale={query.isPlaceholderData}
            partial={query.hasNextPage}
          />
        )}
        <LoadMore of={query} />
      </div>
      {creating && (
        <ProjectDialog
          organizationId={organizationId}
          project={undefined}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  );
}

function columnsOf(organizationId: string, canManage: boolean): readonly Column<Project>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      accessorFn: ({ name }) => name.toLowerCase(),
      cell: ({ row: { original: project } }) => (
        <div className="min-w-32">
          <ProjectLink
            organizationId={organizationId}
            projectId={project.id}
            className="font-medium hover:text-accent hover:underline"
          >
            {project.name}
          </ProjectLink>
          <p className="text-xs text-ink-faint @max-2xl:hidden">
            <Id className="break-all">{project.id}</Id>
          </p>
        </div>
      ),
    },
    ...PROJECT_BUDGETS.map(({ id, label, spend, budget }): Column<Project> => ({
      id,
      header: label,
      accessorFn: (project) => Number(nanoUsdOf(project.spend?.[spend] ?? '0')),
      meta: {
        figures: true,
        usd: (project) => project.spend?.[spend],
        ...(id !== 'month' && { hide: id === 'day' ? 'phone' : 'tablet' }),
      },
      cell: ({ row: { original: project } }) => (
        <SpendOfBudget spend={project.spend?.[spend]} budget={project[budget]} />
      ),
    })),
    {
      id: 'keys',
      header: 'Keys',
      enableSorting: false,
      meta: { hide: 'tablet' },
      cell: ({ row: { original: project } }) => (
        <Link
          to="/o/$organizationId/keys"
          params={{ organizationId }}
          search={{ project: project.id }}
          className="text-accent hover:underline"
        >
          View keys
        </Link>
      ),
    },
    {
      id: 'actions',
      header: () => <span className="sr-only">Actions</span>,
      enableSorting: false,
      meta: { className: 'text-right', hide: 'phone' },
      cell: ({ row: { original: project } }) => canManage && <ProjectActions of={project} />,
    },
  ];
}

function ProjectActions({ of: project }: { readonly of: Project }) {
  const [editing, setEditing] = useState(false);
  return (
    <span className="inline-flex gap-2">
      <Button small aria-label={`Edit ${visible(project.name)}`} onClick={() => setEditing(true)}>
        Edit
      </Button>
      <ArchiveProject small of={project} />
      {editing && (
        <ProjectDialog
          organizationId={project.organization_id}
          project={project}
          onClose={() => setEditing(false)}
        />
      )}
    </span>
  );
}
