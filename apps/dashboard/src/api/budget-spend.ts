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

/** What counts against budgets of rolling windows and of models. Without a key, of the organization. */
export const otherSpendQuery = (
  organizationId: string,
  keyId: string | undefined,
  { hours, models }: { readonly hours: readonly number[]; readonly models: readonly string[] },
) =>
  queryOptions({
    queryKey: ['budget-spend', organizationId, keyId, 'others', hours, models],
    enabled: hours.length + models.length > 0,
    queryFn: async ({ signal }) => {
      const query = {
        ...(hours.length > 0 && { hours: hours.join(',') }),
        ...(models.length > 0 && { models: models.join(',') }),
      };
      return keyId === undefined
        ? api.call('GET /api/organizations/{organization_id}/budget-spend', {
            params: { organization_id: organizationId },
            ...{ query, signal },
          })
        : api.call('GET /api/organizations/{organization_id}/keys/{key_id}/budget-spend', {
            params: { organization_id: organizationId, key_id: keyId },
            ...{ query, signal },
          });
    },
  });
