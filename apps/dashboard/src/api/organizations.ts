import type { Result } from '@gateway/dashboard-contract/client';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api } from './client';

export type Organization = Result<'GET /api/organizations/{organization_id}'>['organization'];

/** The switcher's limit. The command palette and the operator's list find all organizations. */
export const MAX_IN_SWITCHER = 100;
/** The matches that the command palette offers. */
const MAX_FOUND = '20';

export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: async ({ signal }) =>
    (await api.call('GET /api/organizations', { query: { page_size: String(MAX_IN_SWITCHER) }, signal }))
      .data,
  staleTime: 30_000,
});

/** The newest organizations that contain the text. */
export const foundOrganizationsQuery = (search: string) =>
  queryOptions({
    queryKey: ['organizations', 'found', search],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/organizations', { query: { page_size: MAX_FOUND, search }, signal })).data,
    placeholderData: keepPreviousData,
  });

export const organizationQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}', {
          params: { organization_id: organizationId },
          signal,
        })
      ).organization,
  });

/** The limits that apply: where the organization has none, its ceiling. */
export function effectiveLimitsOf({ limits, ceilings }: Organization): Organization['ceilings'] {
  const own = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null));
  return { ...ceilings, ...own };
}
