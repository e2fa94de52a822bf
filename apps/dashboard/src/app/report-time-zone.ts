import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../api/client';
import { sessionQuery, useSession } from '../api/session';

/** Sets the time zone of emails to that of the browser, unless the person has one. */
export function useReportedTimeZone(): void {
  const { time_zone: known } = useSession();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (known !== '') return;
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    // The server may not know the zone of a newer browser. Emails have UTC then.
    api
      .call('PUT /api/account/profile', { body: { time_zone: timeZone } })
      .then(() =>
        queryClient.setQueryData(
          sessionQuery.queryKey,
          (session) => session && { ...session, time_zone: timeZone },
        ),
      )
      .catch(() => undefined);
  }, [known, queryClient]);
}
