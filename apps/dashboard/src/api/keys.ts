import type { Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { visible } from '../format/invisible-characters';
import { api } from './client';

type KeyPage = Result<'GET /api/organizations/{organization_id}/keys'>;
export type Key = KeyPage['data'][number];
export type KeyKind = Key['kind'];
export type KeyBounds = KeyPage['bounds'];

const PAGE_SIZE = '100';

export const keysQuery = (organizationId: string, kind: KeyKind = 'standard') =>
  infiniteQueryOptions({
    queryKey: ['keys', organizationId, kind],
    queryFn: ({ pageParam, signal }) =>
      api.call('GET /api/organizations/{organization_id}/keys', {
        params: { organization_id: organizationId },
        query: { page_size: PAGE_SIZE, page_token: pageParam, kind },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
  });

export const keyQuery = (organizationId: string, keyId: string) =>
  queryOptions({
    queryKey: ['key', organizationId, keyId],
    queryFn: ({ signal }) =>
      api.call('GET /api/organizations/{organization_id}/keys/{key_id}', {
        params: { organization_id: organizationId, key_id: keyId },
        signal,
      }),
  });

/** The names of the latest keys by id. */
export function useKeyNames(organizationId: string): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['key-names', organizationId],
    queryFn: async ({ signal }) => {
      const latest = async (kind: KeyKind) => {
        const page = await api.call('GET /api/organizations/{organization_id}/keys', {
          params: { organization_id: organizationId },
          query: { page_size: '200', kind },
          signal,
        });
        return page.data;
      };
      // Two requests, so that playground keys cannot crowd out standard keys.
      return (await Promise.all([latest('standard'), latest('playground')])).flat();
    },
    staleTime: 60_000,
  });
  return new Map(data?.map(({ id, name, last4 }) => [id, `${visible(name)} …${last4}`]));
}
