import type { Result } from '@gateway/dashboard-contract/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

/** What counts against the budgets of an organization, a project or a key. */
export type BudgetSpend = Result<'GET /api/organizations/{organization_id}/budget-spend'>['spend'];

export const organizationSpendQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['budget-spend', organizationId],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/budget-spend', {
          params: { organization_id: organizationId },
          signal,
        })
      ).spend,
  });

export const keySpendQuery = (organizationId: string, keyId: string) =>
  queryOptions({
    queryKey: ['budget-spend', organizationId, keyId],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/keys/{key_id}/budget-spend', {
          params: { organization_id: organizationId, key_id: keyId },
          signal,
        })
      ).spend,
  });

/** A budget that each end user of a key has. */
interface EndUserBudget {
  readonly period: 'day' | 'week' | 'month' | 'total' | 'window';
  readonly hours: number;
}

/** The end users that are closest to their budget. */
export const endUserSpendQuery = (organizationId: string, keyId: string, { period, hours }: EndUserBudget) =>
  queryOptions({
    queryKey: ['budget-spend', organizationId, keyId, 'end-users', period, hours],
    queryFn: async ({ signal }) =>
      (
        await api.call('GET /api/organizations/{organization_id}/keys/{key_id}/end-user-spend', {
          params: { organization_id: organizationId, key_id: keyId },
          query: { period, ...(period === 'window' && { hours: String(hours) }) },
          signal,
        })
      ).data,
  });

/** What counts against budgets of rolling windows and of models. Without a key or project, of the organization. */
export const otherSpendQuery = (
  organizationId: string,
  { keyId, projectId }: { readonly keyId?: string; readonly projectId?: string },
  { hours, models }: { readonly hours: readonly number[]; readonly models: readonly string[] },
) =>
  queryOptions({
    queryKey: ['budget-spend', organizationId, keyId ?? projectId, 'others', hours, models],
    enabled: hours.length + models.length > 0,
    queryFn: async ({ signal }) => {
      const params = { organization_id: organizationId };
      const query = {
        ...(hours.length > 0 && { hours: hours.join(',') }),
        ...(models.length > 0 && { models: models.join(',') }),
      };
      if (keyId !== undefined)
        return api.call('GET /api/organizations/{organization_id}/keys/{key_id}/budget-spend', {
          params: { ...params, key_id: keyId },
          ...{ query, signal },
        });
      return projectId === undefined
        ? api.call('GET /api/organizations/{organization_id}/budget-spend', { params, query, signal })
        : api.call('GET /api/organizations/{organization_id}/projects/{project_id}/budget-spend', {
            params: { ...params, project_id: projectId },
            ...{ query, signal },
          });
    },
  });
