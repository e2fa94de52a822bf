import { isClosedToOperators } from '@gateway/base';
import type { Permission } from '@gateway/dashboard-contract';
import { ApiError, type Result } from '@gateway/dashboard-contract/client';
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { api } from './client';

export type Session = Result<'GET /api/session'>;

/** The current session; null when signed out. */
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

/** The session, for pages that require one. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data === null) throw new Error('there is no session');
  return data;
}

/** Whether the session has a permission. Used to hide actions; the server enforces permissions. */
export function can(session: Session, permission: Permission, organizationId?: string): boolean {
  if (session.member.role === 'operator' && !isClosedToOperators(permission)) return true;
  if (permission.startsWith('platform:')) return session.permissions.includes(permission);
  const membership = session.memberships.find(({ organization }) => organization.id === organizationId);
  return membership?.permissions.includes(permission) ?? false;
}

export function usePermission(organizationId?: string): (permission: Permission) => boolean {
  const session = useSession();
  return (permission) => can(session, permission, organizationId);
}
