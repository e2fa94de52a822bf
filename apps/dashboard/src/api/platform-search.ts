import { queryOptions } from '@tanstack/react-query';
import { api } from './client';

/** What operators find in all organizations. */

const MAX_PEOPLE = '10';

export const foundRequestsQuery = (id: string) =>
  queryOptions({
    queryKey: ['operator', 'requests', id],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/operator/requests', { query: { id }, signal })).data,
  });

export const foundPlatformKeysQuery = (text: string) =>
  queryOptions({
    queryKey: ['operator', 'keys', text],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/operator/keys', { query: { text }, signal })).data,
  });

export const foundPeopleQuery = (search: string) =>
  queryOptions({
    queryKey: ['people', 'found', search],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/people', { query: { search, page_size: MAX_PEOPLE }, signal })).data,
  });

export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  queryFn: async ({ signal }) => (await api.call('GET /api/operator/catalogue', { signal })).catalogue,
});
