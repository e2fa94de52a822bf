import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { organizationQuery, type Organization } from '../../api/organizations';
import { sessionQuery } from '../../api/session';
import { useToast } from '../../ui/toast';

interface OrganizationChange {
  readonly organization: Organization;
  /** Saves the change of this version of the organization. */
  readonly send: (version: number) => Promise<Result<'PATCH /api/organizations/{organization_id}'>>;
  /** The message after it is saved. */
  readonly saved: string;
  readonly onDone: () => void;
}

/** A change of the organization with optimistic locking; afterwards every page shows it. */
export function useOrganizationChange({ organization, send, saved, onDone }: OrganizationChange) {
  const [readVersion, setReadVersion] = useState(organization.version);
  const queryClient = useQueryClient();
  const toast = useToast();
  const save = useMutation({
    mutationFn: () => send(readVersion),
    onSuccess: async ({ organization: changed }) => {
      queryClient.setQueryData(organizationQuery(organization.id).queryKey, changed);
      await Promise.all(
        // The session has its name, for the switcher.
        [['organizations'], ['all-organizations'], sessionQuery.queryKey].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      );
      toast(saved);
      onDone();
    },
  });
  return { save, setReadVersion };
}
