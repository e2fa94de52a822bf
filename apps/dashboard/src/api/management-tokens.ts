import type { Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api } from './client';

export type ManagementToken =
  Result<'GET /api/organizations/{organization_id}/management-tokens'>['data'][number];
export type CreatedManagementToken = Result<'POST /api/organizations/{organization_id}/management-tokens'>;

/** Undefined: the tokens of the platform. */
type OrganizationId = string | undefined;

const PAGE_SIZE = '100';

export const managementTokensQuery = (organizationId: OrganizationId) =>
  infiniteQueryOptions({
    queryKey: ['management-tokens', organizationId ?? 'platform'],
    queryFn: ({ pageParam, signal }) => {
      const query = { page_size: PAGE_SIZE, page_token: pageParam };
      return organizationId === undefined
        ? api.call('GET /api/management-tokens', { query, signal })
        : api.call('GET /api/organizations/{organization_id}/management-tokens', {
            params: { organization_id: organizationId },
            query,
            signal,
          });
    },
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
  });

export interface NewManagementToken {
  readonly name: string;
  readonly access: ManagementToken['access'];
  readonly role: Exclude<ManagementToken['role'], 'operator'>;
  readonly expires_on: string;
}

export function createManagementToken(
  organizationId: OrganizationId,
  { role, ...body }: NewManagementToken,
): Promise<CreatedManagementToken> {
  return organizationId === undefined
    ? api.call('POST /api/management-tokens', { body })
    : api.call('POST /api/organizations/{organization_id}/management-tokens', {
        params: { organization_id: organizationId },
        body: { ...body, role },
      });
}

export function revokeManagementToken(organizationId: OrganizationId, tokenId: string): Promise<unknown> {
  return organizationId === undefined
    ? api.call('POST /api/management-tokens/{token_id}/revoke', { params: { token_id: tokenId } })
    : api.call('POST /api/organizations/{organization_id}/management-tokens/{token_id}/revoke', {
        params: { organization_id: organizationId, token_id: tokenId },
      });
}
