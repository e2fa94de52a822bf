import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { organizationQuery } from '../../api/organizations';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { OnOff } from '../../ui/notice';
import { Section } from '../../ui/page';

/** Whether everyone in the organization needs a second factor; for owners. */
export function SecondFactorRequired({ organizationId }: { readonly organizationId: string }) {
  const { data: organization } = useQuery(organizationQuery(organizationId));
  const [changing, setChanging] = useState(false);
  const queryClient = useQueryClient();
  const required = organization?.requires_second_factor ?? false;
  const change = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/second-factor-required', {
        params: { organization_id: organizationId },
        body: { required: !required },
      }),
    onSuccess: async () => {
      setChanging(false);
      // The person who requires it may need to set it up too.
      await queryClient.invalidateQueries();
    },
  });
  if (!organization) return null;
  return (
    <Section
      title={
        <span className="flex items-center gap-2">
          Required two-factor authentication <OnOff on={required} />
        </span>
      }
      description="People without it must set it up before anything else. For single sign-on, require it at your identity provider."
      actions={
        <Button small onClick={() => setChanging(true)}>
          {required ? 'Turn off' : 'Turn on'}
        </Button>
      }
    >
      <Confirm
        danger={required}
        open={changing}
        onOpenChange={setChanging}
        title={required ? 'Stop requiring two-factor authentication?' : 'Require two-factor authentication?'}
        action={required ? 'Turn off' : 'Turn on'}
        of={change}
        onConfirm={() => change.mutate()}
      >
        <p>
          {required
            ? 'People without it have access again.'
            : 'People without it lose access until they set it up, from their next request on. API keys keep working.'}
        </p>
      </Confirm>
    </Section>
  );
}
