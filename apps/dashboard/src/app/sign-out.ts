import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import { sessionQuery } from '../api/session';
import { useToast } from '../ui/toast';
import { messageOf } from '../ui/states';

/** Ends the session and forgets everything that was read with it: the next person starts from nothing. */
export function useSignOut(): () => void {
  const queryClient = useQueryClient();
  const toast = useToast();
  const { mutate } = useMutation({
    mutationFn: () => api.call('DELETE /api/session'),
    onSuccess: () => {
      queryClient.setQueryData(sessionQuery.queryKey, null);
      // A new page, so that nothing stays in memory either.
      window.location.assign('/sign-in');
    },
    onError: (error) => toast(messageOf(error)),
  });
  return mutate;
}
