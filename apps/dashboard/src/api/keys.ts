import type { CallOptions, Result } from '@gateway/dashboard-contract/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { visible } from '../format/invisible-characters';
import { api } from './client';

type KeyPage = Result<'GET /api/organizations/{organization_id}/keys'>;
type KeyListQuery = NonNullable<CallOptions<'GET /api/organizations/{organization_id}/keys'>['query']>;
export type Key = KeyPage['data'][number];
export type KeyBounds = KeyPage['bounds'];
export type KeyFilters = Pick<KeyListQuery, 'kind' | 'state' | 'search' | 'owner' | 'project_id'>;

const PAGE_SIZE = '100';
/** The matches that a select or the command palette offers. */
const MAX_FOUND = '20';
/** The server's limit of ids per request. */
const MAX_IDS = 100;

const listKeys = async (organizationId: string, query: KeyListQuery, signal: AbortSignal) =>
  api.call('GET /api/organizations/{organization_id}/keys', {
    params: { organization_id: organizationId },
    query,
    signal,
  });

export const keysQuery = (organizationId: string, filters: KeyFilters = {}) =>
  infiniteQueryOptions({
    queryKey: ['keys', organizationId, filters],
    queryFn: ({ pageParam, signal }) =>
      listKeys(organizationId, { ...filters, page_size: PAGE_SIZE, page_token: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page_token,
    placeholderData: keepPreviousData,
  });

/** The newest keys that contain the text. */
export const foundKeysQuery = (organizationId: string, kind: 'standard' | 'all', text: string) =>
  queryOptions({
    queryKey: ['keys', organizationId, 'found', kind, text],
    queryFn: async ({ signal }) => {
      return (await listKeys(organizationId, { kind, search: text, page_size: MAX_FOUND }, signal)).data;
    },
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

export const keyLabel = ({ name, last4 }: Pick<Key, 'name' | 'last4'>) => `${visible(name)} …${last4}`;

export const keysByIdQuery = (organizationId: string, keyIds: readonly string[]) =>
  queryOptions({
    queryKey: ['key-names', organizationId, keyIds],
    queryFn: async ({ signal }) => {
      const found: Key[] = [];
      for (let start = 0; start < keyIds.length; start += MAX_IDS) {
        const ids = keyIds.slice(start, start + MAX_IDS).join(',');
        found.push(
          ...(await listKeys(organizationId, { kind: 'all', ids, page_size: PAGE_SIZE }, signal)).data,
        );
      }
      return found;
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

/** The names of the latest keys, and of these keys, by id. */
export function useKeyNames(
  organizationId: string,
  keyIds: readonly (string | undefined)[],
): ReadonlyMap<string, string> {
  const latest = useQuery({
    queryKey: ['key-names', organizationId],
    queryFn: async ({ signal }) => {
      // Two requests, so that playground keys cannot crowd out standard keys.
      const kinds = ['standard', 'playground'] as const;
      const pages = kinds.map((kind) => listKeys(organizationId, { kind, page_size: '200' }, signal));
      return (await Promise.all(pages)).flatMap(({ data }) => data);
    },
    staleTime: 60_000,
  });
  const known = new Set(latest.data?.map(({ id }) => id));
  const older = [...new Set(keyIds)].filter((id) => id !== undefined && !known.has(id)).sort() as string[];
  const others = useQuery({
    ...keysByIdQuery(organizationId, older),
    enabled: latest.data !== undefined && older.length > 0,
  });
  return new Map([...(latest.data ?? []), ...(others.data ?? [])].map((key) => [key.id, keyLabel(key)]));
}
