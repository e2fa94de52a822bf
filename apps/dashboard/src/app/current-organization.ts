import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationsQuery, type Organization } from '../api/organizations';

const STORAGE_KEY = 'last-organization';

/** The organization in the URL, else the last one viewed, else the first. */
export function useCurrentOrganization(): {
  readonly id: string | undefined;
  readonly all: readonly Organization[];
} {
  const { organizationId } = useParams({ strict: false });
  const { data: all = [] } = useQuery(organizationsQuery);
  return { id: organizationId ?? defaultOrganization(all), all };
}

export function defaultOrganization(all: readonly Organization[]): string | undefined {
  const last = localStorage.getItem(STORAGE_KEY);
  return (all.find(({ id }) => id === last) ?? all[0])?.id;
}

export function storeLastOrganization(organizationId: string): void {
  localStorage.setItem(STORAGE_KEY, organizationId);
}
