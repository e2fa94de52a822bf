import type { CallOptions, Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { visible } from '../format/invisible-characters';
import { api } from './client';

const LIST = 'GET /api/organizations/{organization_id}/projects';

export type Project = Result<typeof LIST>['data'][number];
export type ProjectState = 'active' | 'archived';
type ProjectListQuery = NonNullable<CallOptions<typeof LIST>['query']>;

/** As many as an organization has that are not archived. */
const PAGE_SIZE = '200';
/** The server's limit of ids per request. */
const MAX_IDS = 100;

const listProjects = (organizationId: string, query: ProjectListQuery, signal: AbortSignal) =>
  api.call(LIST, {
    params: { organization_id: organizationId },
    query: { page_size: PAGE_SIZE, ...query },
    signal,
  });

export const projectsQuery = (organizationId: string, state: ProjectState) =>
  infiniteQueryOptions({
    queryKey: ['projects', organizationId, state],
    queryFn: ({ pageParam, signal }) =>
      listProjects(organizationId, { state, page_token: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });

/** The projects that a key can belong to. */
export const activeProjectsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['projects', organizationId, 'all-active'],
    queryFn: async ({ signal }) => (await listProjects(organizationId, { state: 'active' }, signal)).data,
    staleTime: 60_000,
  });

/** The project of this id; null for a key without one. */
export const projectQuery = (organizationId: string, projectId: string | null) =>
  queryOptions({
    queryKey: ['projects', organizationId, 'by-id', projectId],
    queryFn: async ({ signal }) =>
      (await listProjects(organizationId, { state: 'all', ids: projectId ?? '' }, signal)).data[0] ?? null,
    enabled: projectId !== null,
  });

/** The first 100 of these projects, also archived ones. */
export const projectsByIdQuery = (organizationId: string, projectIds: readonly string[]) =>
  queryOptions({
    queryKey: ['projects', organizationId, 'by-id', projectIds],
    queryFn: async ({ signal }) => {
      const ids = projectIds.slice(0, MAX_IDS).join(',');
      return (await listProjects(organizationId, { state: 'all', ids }, signal)).data;
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

/** The names of active projects, and of this one, by id. */
export function useProjectNames(
  organizationId: string,
  projectIds: readonly (string | null | undefined)[] = [],
): ReadonlyMap<string, string> {
  const active = useQuery(activeProjectsQuery(organizationId));
  const known = new Set(active.data?.map(({ id }) => id));
  const archived = [...new Set(projectIds)].filter((id) => id && !known.has(id)) as string[];
  const others = useQuery({
    ...projectsByIdQuery(organizationId, archived),
    enabled: active.data !== undefined && archived.length > 0,
  });
  const projects = [...(active.data ?? []), ...(others.data ?? [])];
  return new Map(projects.map(({ id, name }) => [id, visible(name)]));
}
