import { useQuery, type QueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { organizationQuery, organizationsQuery, type Organization } from '../api/organizations';

const STORAGE_KEY = 'last-organization';

/** The organization in the URL, else the last one viewed, else the newest. */
export function useCurrentOrganization(): {
  readonly id: string | undefined;
  /** Undefined until loaded. */
  readonly organization: Organization | undefined;
  readonly isLoading: boolean;
  /** The newest organizations of the person. */
  readonly newest: readonly Organization[];
} {
  const { organizationId } = useParams({ strict: false });
  const { data: newest = [] } = useQuery(organizationsQuery);
  const wanted = organizationId ?? lastOrganization() ?? newest[0]?.id;
  const listed = newest.find(({ id }) => id === wanted);
  const other = useQuery({
    ...organizationQuery(wanted ?? ''),
    enabled: wanted !== undefined && listed === undefined && newest.length > 0,
  });
  const isLost = organizationId === undefined && other.isError;
  const organization = listed ?? other.data ?? (isLost ? newest[0] : undefined);
  return { id: organizationId ?? organization?.id, organization, isLoading: other.isLoading, newest };
}

/** The last organization viewed if the person still has access to it, else the newest. */
export async function defaultOrganization(queryClient: QueryClient): Promise<string | undefined> {
  const newest = await queryClient.ensureQueryData(organizationsQuery);
  const last = lastOrganization();
  if (last === undefined || newest.some(({ id }) => id === last)) return last ?? newest[0]?.id;
  const found = await queryClient.ensureQueryData(organizationQuery(last)).catch(() => undefined);
  return (found ?? newest[0])?.id;
}

function lastOrganization(): string | undefined {
  return localStorage.getItem(STORAGE_KEY) ?? undefined;
}

export function storeLastOrganization(organizationId: string): void {
  localStorage.setItem(STORAGE_KEY, organizationId);
}
