import type { Permission } from '@gateway/dashboard-contract';
import { ApiError, type Result } from '@gateway/dashboard-contract/client';
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { api } from './client';

export type Session = Result<'GET /api/session'>;

/** Who is signed in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await api.call('GET /api/session', { signal });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_signed_in') return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** Inside of the pages for whoever is signed in. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error('nobody is signed in');
  return data;
}

/**
 * Whether the server would allow it. Only so that nobody is shown a button that
 * cannot work: the server decides again.
 */
export function may(session: Session, permission: Permission, organizationId?: string): boolean {
  if (session.member.role === 'operator') return true;
  if (permission.startsWith('platform:')) return session.permissions.includes(permission);
  const membership = session.memberships.find(({ organization }) => organization.id === organizationId);
  return membership?.permissions.includes(permission) ?? false;
}

export function useMay(organizationId?: string): (permission: Permission) => boolean {
  const session = useSession();
  return (permission) => may(session, permission, organizationId);
}
