import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import { sessionQuery } from '../api/session';
import { useToast } from '../ui/toast';
import { messageOf } from '../ui/states';

/** Ends the session and clears all cached data. */
export function useSignOut(): () => void {
  const queryClient = useQueryClient();
  const toast = useToast();
  const { mutate } = useMutation({
    mutationFn: () => api.call('DELETE /api/session'),
    onSuccess: () => {
      queryClient.setQueryData(sessionQuery.queryKey, null);
      // A full page load also clears memory.
      window.location.assign('/sign-in');
    },
    onError: (error) => toast(messageOf(error)),
  });
  return mutate;
}
