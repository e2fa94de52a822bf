import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationsQuery, type Organization } from '../api/organizations';

const LAST_SEEN = 'last-organization';

/** The organization that the address names, else the one that was looked at last, else the first. */
export function useCurrentOrganization(): {
  readonly id: string | undefined;
  readonly all: readonly Organization[];
} {
  const { organizationId } = useParams({ strict: false });
  const { data: all = [] } = useQuery(organizationsQuery);
  return { id: organizationId ?? chooseOrganization(all), all };
}

export function chooseOrganization(all: readonly Organization[]): string | undefined {
  const last = localStorage.getItem(LAST_SEEN);
  return (all.find(({ id }) => id === last) ?? all[0])?.id;
}

export function rememberOrganization(organizationId: string): void {
  localStorage.setItem(LAST_SEEN, organizationId);
}
